using System.Buffers;
using System.Globalization;

namespace Sluice.Usenet.Par2;

/// <summary>A PAR2 file of a release.</summary>
/// <param name="Name">Its name, or null.</param>
/// <param name="SetId">Its set by its first packet, or null where it was not looked at.</param>
/// <param name="Bytes">Its length as far as it is known or claimed.</param>
public readonly record struct PostedPar2(string? Name, UInt128? SetId, long Bytes);

/// <summary>What the name of a PAR2 file says.</summary>
/// <param name="Set">The name of its set in lower case: that of the index without its extension.</param>
/// <param name="IsVolume">Whether it holds slices for repair, which an import never fetches (IMP-20).</param>
/// <param name="Slices">How many, where the name tells; else 0.</param>
public readonly record struct Par2Name(string Set, bool IsVolume, int Slices)
{
    private const int MaxSlices = 65_536;

    private static readonly SearchValues<char> Numbers = SearchValues.Create("0123456789+-");

    /// <summary>
    /// Recognises <c>.par2</c>, <c>.volN+M.par2</c> with all its relatives (<c>.volN-M</c>, <c>.volN</c>), and <c>.rev</c>: the volumes that RAR
    /// makes for the same purpose.
    /// </summary>
    /// <returns>Null for other names.</returns>
    public static Par2Name? Parse(string? name)
    {
        if (name is null)
            return null;
        name = name.ToLowerInvariant();
        if (name.Length > 4 && name.EndsWith(".rev", StringComparison.Ordinal))
            return new Par2Name(name[..^4], IsVolume: true, 0);
        if (name.Length <= 5 || !name.EndsWith(".par2", StringComparison.Ordinal))
            return null;

        var stem = name[..^5];
        var mark = stem.LastIndexOf(".vol", StringComparison.Ordinal);
        var numbers = mark > 0 ? stem.AsSpan(mark + 4) : [];
        if (!numbers.ContainsAnyInRange('0', '9') || numbers.ContainsAnyExcept(Numbers))
            return new Par2Name(stem, IsVolume: false, 0);
        var plus = numbers.LastIndexOf('+');
        var slices = plus >= 0 && int.TryParse(numbers[(plus + 1)..], NumberStyles.None, CultureInfo.InvariantCulture, out var count) && count <= MaxSlices ? count : 0;
        return new Par2Name(stem[..mark], IsVolume: true, slices);
    }

    /// <summary>The files that are worth reading: of each set the smallest one that is no volume by its name (IMP-20).</summary>
    /// <param name="files">The PAR2 files of a release.</param>
    /// <returns>Indexes into <paramref name="files"/> in ascending order.</returns>
    public static IReadOnlyList<int> Indexes(IReadOnlyList<PostedPar2> files)
    {
        ArgumentNullException.ThrowIfNull(files);

        var best = new Dictionary<(UInt128?, string?), int>();
        for (var i = 0; i < files.Count; i++)
        {
            var name = Parse(files[i].Name);
            if (name is { IsVolume: true })
                continue;
            var set = files[i].SetId is { } id ? ((UInt128?)id, (string?)null) : (null, name?.Set ?? files[i].Name);
            if (!best.TryGetValue(set, out var known) || files[i].Bytes < files[known].Bytes)
                best[set] = i;
        }

        return [.. best.Values.Order()];
    }
}
