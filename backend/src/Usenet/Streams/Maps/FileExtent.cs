namespace Sluice.Usenet.Streams.Maps;

/// <summary>A slice of a posted file.</summary>
/// <param name="File">The posted file.</param>
/// <param name="Offset">First byte of the slice in the decoded file, 0-based.</param>
/// <param name="Length">Bytes of the slice.</param>
public readonly record struct FileExtent(PostedFile File, long Offset, long Length)
{
    /// <summary>A posted file from its first byte to its last.</summary>
    public static FileExtent Whole(PostedFile file) => new(file, 0, file.Map.Length);
}
