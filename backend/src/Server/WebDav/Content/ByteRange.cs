using System.Globalization;

namespace Sluice.Server.WebDav.Content;

internal enum RangeKind
{
    /// <summary>200 with the whole file, because the Range header is absent or ignored.</summary>
    Whole,

    /// <summary>206 with a part of the file.</summary>
    Part,

    /// <summary>416 without content.</summary>
    Unsatisfiable,
}

/// <summary>
/// A byte range of a file, made by <see cref="RangeHeader"/>. <c>Offset</c> is 0-based and 0 unless <c>Kind</c> is <see cref="RangeKind.Part"/>. <c>Length</c>
/// is 0 if the range is unsatisfiable. <c>Size</c> is the length of the whole file.
/// </summary>
internal readonly record struct ByteRange(RangeKind Kind, long Offset, long Length, long Size)
{
    /// <summary>The <c>Content-Range</c> header; null for the whole file.</summary>
    public string? ContentRange => Kind switch
    {
        RangeKind.Part => string.Create(CultureInfo.InvariantCulture, $"bytes {Offset}-{Offset + Length - 1}/{Size}"),
        RangeKind.Unsatisfiable => string.Create(CultureInfo.InvariantCulture, $"bytes */{Size}"),
        _ => null,
    };

    /// <summary>Offset just past the last byte.</summary>
    public long End => Offset + Length;

    public static ByteRange Whole(long size) => new(RangeKind.Whole, 0, size, size);

    public static ByteRange None(long size) => new(RangeKind.Unsatisfiable, 0, 0, size);
}
