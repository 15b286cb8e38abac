namespace Sluice.Usenet.Streams.Proof;

/// <summary>A slice of a posted file; offset (0-based) and length in decoded bytes.</summary>
public readonly record struct FileExtent(PostedFile File, long Offset, long Length)
{
    /// <summary>The proof that must succeed before any byte of the slice is served; null if the offset was read rather than predicted.</summary>
    public IExtentProof? Proof { get; init; }

    public static FileExtent Whole(PostedFile file) => new(file, 0, file.Map.Length);
}
