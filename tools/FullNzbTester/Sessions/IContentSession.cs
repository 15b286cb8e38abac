using Sluice.Tools.FullNzbTester.Checks;
using Sluice.Tools.FullNzbTester.Measure;
using Sluice.Usenet.Streams.Maps;

namespace Sluice.Tools.FullNzbTester.Sessions;

/// <summary>
/// A session with the measured engine or server that starts cold: no connection is open and no data of its files is buffered. Each cold
/// measurement has its own. Only one is open at a time; its streams may be used concurrently.
/// </summary>
internal interface IContentSession : IAsyncDisposable
{
    IReadOnlyList<TestedFile> Files { get; }

    /// <summary>Whether the streams belong to the engine in this process, so that they support seeking and report buffered bytes.</summary>
    bool IsInProcess { get; }

    /// <summary>Opens a file. Nothing is requested before the first read.</summary>
    /// <param name="end">End offset (exclusive) of the bytes that will be read; null for the end of the file.</param>
    IContentStream Open(TestedFile file, long position, long? end);

    ValueTask<LineCounts> CountsAsync(CancellationToken cancellationToken);

    /// <summary>Waits until the remaining work of closed streams is finished or canceled.</summary>
    Task SettleAsync(CancellationToken cancellationToken);

    /// <summary>Returns the number of fetches in progress: held permits, or commands pending at the mock if permits are not visible.</summary>
    ValueTask<long> UnderWayAsync(CancellationToken cancellationToken);

    /// <summary>Explains a failed read by a hole in the post.</summary>
    /// <param name="landing">The segment in which reading began.</param>
    /// <param name="landed">Offset in that segment.</param>
    /// <param name="position">Offset at which the read failed.</param>
    /// <returns>The hole; null if the read failed for another reason.</returns>
    ValueTask<HoleSighting?> ExplainAsync(IOException error, TestedFile file, Segment landing, long landed, long position, CancellationToken cancellationToken);

    /// <summary>Returns the provider that delivered an article, for a message.</summary>
    string DelivererOf(TestedFile file, int segment);

    /// <summary>Adds figures that only this kind of session can measure.</summary>
    void Note(MetricSheet metrics);
}

/// <summary>A hole in the post.</summary>
/// <param name="Segment">0-based index of the article.</param>
/// <param name="IsExact">Whether the read delivered every byte before the hole.</param>
internal readonly record struct HoleSighting(int Segment, bool IsExact);
