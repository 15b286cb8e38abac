using Sluice.Usenet.Nzb;

namespace Sluice.Server.Queue;

/// <summary>The size and age of a post according to its NZB.</summary>
/// <param name="EncodedBytes">Encoded bytes according to the segments; only a hint.</param>
/// <param name="PostedAt">Date of the newest file; null if no file has a date.</param>
/// <param name="Files">Number of files without duplicates.</param>
/// <param name="Segments">Number of segments, including segments that were never posted.</param>
internal sealed record PostMeasure(long EncodedBytes, DateTimeOffset? PostedAt, int Files, int Segments)
{
    /// <summary>The measure of an invalid NZB.</summary>
    public static readonly PostMeasure Nothing = new(0, null, 0, 0);

    /// <summary>Returns the measure including one more file.</summary>
    public PostMeasure With(DateTimeOffset? postedAt, int segments, long encodedBytes) => new(
        EncodedBytes + encodedBytes,
        postedAt is null || postedAt < PostedAt ? PostedAt : postedAt,
        Files + 1,
        Segments + segments);

    /// <summary>Measures an NZB file by file. If the NZB is invalid, measures the files before the error.</summary>
    /// <exception cref="IOException">The NZB cannot be read.</exception>
    public static async Task<PostMeasure> OfAsync(IAsyncEnumerable<NzbFile> files)
    {
        var measure = Nothing;
        try
        {
            await foreach (var file in files)
                measure = measure.With(file.Date, file.Segments.Count, file.Segments.Sum(segment => (long)segment.Bytes));
        }
        catch (NzbFormatException)
        {
            // Ignore the error, because the import reads the NZB too and reports it.
        }

        return measure;
    }
}
