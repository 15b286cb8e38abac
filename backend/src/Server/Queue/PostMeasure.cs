using Sluice.Usenet.Nzb;

namespace Sluice.Server.Queue;

/// <summary>Size and age of a post according to its NZB.</summary>
/// <param name="EncodedBytes">In bytes as the segments claim it; a hint.</param>
/// <param name="PostedAt">Date of the newest file; null if no file has a date.</param>
/// <param name="Files">Without repeated files.</param>
/// <param name="Segments">Includes segments never posted.</param>
internal sealed record PostMeasure(long EncodedBytes, DateTimeOffset? PostedAt, int Files, int Segments)
{
    /// <summary>The measure of invalid content.</summary>
    public static readonly PostMeasure Nothing = new(0, null, 0, 0);

    /// <summary>Returns the measure with one more file.</summary>
    public PostMeasure With(DateTimeOffset? postedAt, int segments, long encodedBytes) => new(
        EncodedBytes + encodedBytes,
        postedAt is null || postedAt < PostedAt ? PostedAt : postedAt,
        Files + 1,
        Segments + segments);

    /// <summary>Measures an NZB file by file.</summary>
    /// <returns>If the content is not a valid NZB, the measure of the files before the error.</returns>
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
            // The import reads the NZB too and reports the error.
        }

        return measure;
    }
}
