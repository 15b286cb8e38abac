namespace Sluice.Usenet.Par2;

/// <summary>Finds the description of a posted or joined file by its first bytes and length, regardless of its name (IMP-40).</summary>
/// <remarks>Immutable, thread-safe and pure.</remarks>
public sealed class Par2Matcher
{
    /// <summary>Number of first bytes covered by the head MD5 of a description.</summary>
    public const int HeadLength = 16 << 10;

    // A posted file may exceed the described length by this percentage of its own length, because some posters pad files.
    private const int MaxExcess = 5;

    private readonly ILookup<UInt128, Par2File> _files;

    /// <summary>Creates a matcher for the indexes of a release, of which there may be none.</summary>
    public Par2Matcher(IEnumerable<Par2Index> indexes) =>
        _files = indexes.SelectMany(index => index.Files).ToLookup(file => file.HeadMd5);

    public bool IsEmpty => _files.Count == 0;

    /// <summary>Returns the head MD5: of the first 16 KiB, or of a shorter whole file. Null if <paramref name="start"/> is too short.</summary>
    /// <param name="start">First bytes of the file.</param>
    /// <param name="length">Length of the whole file in bytes; for a split file the length of all pieces.</param>
    public static UInt128? HeadOf(ReadOnlySpan<byte> start, long length)
    {
        var needed = (int)Math.Clamp(length, 0, HeadLength);
        return start.Length < needed ? null : Par2Reader.Md5Of(start[..needed]);
    }

    /// <summary>Finds a description by head MD5 and length in bytes; null if none matches, or if several match with different names.</summary>
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
