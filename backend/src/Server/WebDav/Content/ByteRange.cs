using System.Globalization;

namespace Sluice.Server.WebDav;

/// <summary>How much of a file an answer carries.</summary>
internal enum RangeKind
{
    /// <summary>The whole file with 200: no header, or one that is ignored.</summary>
    Whole,

    /// <summary>A part of the file with 206.</summary>
    Part,

    /// <summary>Nothing of the file: 416.</summary>
    Unsatisfiable,
}

/// <summary>A stretch of a file that a response carries. <see cref="RangeHeader"/> finds it.</summary>
/// <param name="Kind">The form of the range.</param>
/// <param name="Offset">First byte, 0-based. 0 unless <paramref name="Kind"/> is <see cref="RangeKind.Part"/>.</param>
/// <param name="Length">Number of bytes; 0 where it is unsatisfiable.</param>
/// <param name="Size">Length of the whole file.</param>
internal readonly record struct ByteRange(RangeKind Kind, long Offset, long Length, long Size)
{
    /// <summary>The value of <c>Content-Range</c>; null for the whole file.</summary>
    public string? ContentRange => Kind switch
    {
        RangeKind.Part => string.Create(CultureInfo.InvariantCulture, $"bytes {Offset}-{Offset + Length - 1}/{Size}"),
        RangeKind.Unsatisfiable => string.Create(CultureInfo.InvariantCulture, $"bytes */{Size}"),
        _ => null,
    };

    /// <summary>Offset behind the last byte.</summary>
    public long End => Offset + Length;

    /// <summary>All of a file of <paramref name="size"/> bytes.</summary>
    public static ByteRange Whole(long size) => new(RangeKind.Whole, 0, size, size);

    /// <summary>Nothing of a file of <paramref name="size"/> bytes.</summary>
    public static ByteRange None(long size) => new(RangeKind.Unsatisfiable, 0, 0, size);
}
