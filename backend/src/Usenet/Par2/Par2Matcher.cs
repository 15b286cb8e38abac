namespace Sluice.Usenet.Par2;

/// <summary>Finds the description of a posted or joined file by its head and length (IMP-40), whatever it is called.</summary>
/// <remarks>Immutable, thread-safe and pure.</remarks>
public sealed class Par2Matcher
{
    /// <summary>Bytes from the beginning of a file that its description has an MD5 of.</summary>
    public const int HeadLength = 16 << 10;

    // What is posted may be longer than what is described, by this share of it in percent: some posters fill up.
    private const int MaxExcess = 5;

    private readonly ILookup<UInt128, Par2File> _files;

    /// <summary>Makes a matcher.</summary>
    /// <param name="indexes">The indexes of the release; may be none.</param>
    public Par2Matcher(IEnumerable<Par2Index> indexes) =>
        _files = indexes.SelectMany(index => index.Files).ToLookup(file => file.HeadMd5);

    /// <summary>Whether nothing can be found.</summary>
    public bool IsEmpty => _files.Count == 0;

    /// <summary>The MD5 of the head of a file: its first 16 KiB, or all of it where it is shorter.</summary>
    /// <param name="start">First bytes of the file.</param>
    /// <param name="length">Length of the whole file in bytes; of a file in pieces that of all pieces.</param>
    /// <returns>Null where they are too few.</returns>
    public static UInt128? HeadOf(ReadOnlySpan<byte> start, long length)
    {
        var needed = (int)Math.Clamp(length, 0, HeadLength);
        return start.Length < needed ? null : Par2Reader.Md5Of(start[..needed]);
    }

    /// <summary>The description of a file.</summary>
    /// <param name="head">By <see cref="HeadOf"/>; null where it is not known.</param>
    /// <param name="length">Its length in bytes.</param>
    /// <returns>Null where none fits, or where several do that do not agree about the name.</returns>
    public Par2File? Find(UInt128? head, long length)
    {
        if (head is not { } key || length <= 0)
            return null;

        var fits = _files[key].Where(file => file.Length <= length && file.Length >= length - (long)((Int128)length * MaxExcess / 100)).ToList();
        if (fits.Exists(file => file.Length == length))
            fits.RemoveAll(file => file.Length != length);
        return fits.DistinctBy(file => file.Name, StringComparer.Ordinal).Take(2).ToList() is [var only] ? only : null;
    }
}
