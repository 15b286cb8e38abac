using System.Buffers;
using System.Globalization;

namespace Sluice.Usenet.Par2;

/// <summary>A PAR2 file of a release.</summary>
/// <param name="Name">The file name; null if unknown.</param>
/// <param name="SetId">The set according to the first packet; null if not read.</param>
/// <param name="Bytes">Known or claimed length in bytes.</param>
public readonly record struct PostedPar2(string? Name, UInt128? SetId, long Bytes);

/// <summary>A parsed PAR2 file name.</summary>
/// <param name="Set">The set name in lower case: the name of the index without its extension.</param>
/// <param name="IsVolume">Whether the file has recovery slices, which an import never fetches (IMP-20).</param>
/// <param name="Slices">Number of recovery slices; 0 if not in the name.</param>
public readonly record struct Par2Name(string Set, bool IsVolume, int Slices)
{
    private const int MaxSlices = 65_536;

    private static readonly SearchValues<char> Numbers = SearchValues.Create("0123456789+-");

    /// <summary>Parses <c>.par2</c>, <c>.volN+M.par2</c> (also <c>.volN-M</c>, <c>.volN</c>) and RAR recovery volumes (<c>.rev</c>); null for others.</summary>
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

    /// <summary>Returns the indexes of the files to read, in ascending order: the smallest non-volume of each set (IMP-20).</summary>
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

    /// <summary>Returns the set of a file from its first packet; null if there are fewer than 48 bytes or the file is not PAR2.</summary>
    public static UInt128? SetIdOf(ReadOnlySpan<byte> start) => Par2Reader.SetIdOf(start);
}
