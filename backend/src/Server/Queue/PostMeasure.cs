using Sluice.Usenet.Nzb;

namespace Sluice.Server.Queue;

/// <summary>What an NZB says about the size and age of its post.</summary>
/// <param name="EncodedBytes">Size in bytes as the segments claim it; a hint.</param>
/// <param name="PostedAt">Date of the newest file; null if no file has one.</param>
/// <param name="Files">Files, without those that repeat an earlier one.</param>
/// <param name="Segments">Their segments, those included that were never posted.</param>
internal sealed record PostMeasure(long EncodedBytes, DateTimeOffset? PostedAt, int Files, int Segments)
{
    /// <summary>The measure of content that is no NZB.</summary>
    public static readonly PostMeasure Nothing = new(0, null, 0, 0);

    /// <summary>The measure with one more file.</summary>
    public PostMeasure With(DateTimeOffset? postedAt, int segments, long encodedBytes) => new(
        EncodedBytes + encodedBytes,
        postedAt is null || postedAt < PostedAt ? PostedAt : postedAt,
        Files + 1,
        Segments + segments);

    /// <summary>Measures an NZB file by file.</summary>
    /// <returns>Of content that is no NZB, the measure of the files before the fault.</returns>
    /// <exception cref="IOException">The source of the NZB failed.</exception>
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
            // The import reads the NZB as well, and says why it cannot be used.
        }

        return measure;
    }
}
