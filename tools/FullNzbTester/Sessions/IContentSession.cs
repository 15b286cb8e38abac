using Sluice.Tools.FullNzbTester.Checks;
using Sluice.Tools.FullNzbTester.Measure;
using Sluice.Usenet.Streams.Maps;

namespace Sluice.Tools.FullNzbTester.Sessions;

/// <summary>
/// A session with the measured engine or server that begins from nothing: no connection open and nothing of its files held. Each cold
/// measurement has its own. One is open at a time; its streams may be used concurrently.
/// </summary>
internal interface IContentSession : IAsyncDisposable
{
    /// <summary>The files that can be read.</summary>
    IReadOnlyList<TestedFile> Files { get; }

    /// <summary>Whether the streams are those of the engine in this process, so that they can be seeked and say what they hold.</summary>
    bool IsInProcess { get; }

    /// <summary>Opens a file. Nothing is asked for before the first read.</summary>
    /// <param name="file">One of <see cref="Files"/>.</param>
    /// <param name="position">Where reading begins.</param>
    /// <param name="end">Offset behind the last byte that will be asked for; null for the end of the file.</param>
    IContentStream Open(TestedFile file, long position, long? end);

    /// <summary>What the session has cost so far.</summary>
    ValueTask<LineCounts> CountsAsync(CancellationToken cancellationToken);

    /// <summary>Waits until nothing is under way any more: what closed streams left behind has been read or given up.</summary>
    Task SettleAsync(CancellationToken cancellationToken);

    /// <summary>Fetches under way now: permits that are held, or, where those cannot be seen, commands that wait at the mock.</summary>
    ValueTask<long> UnderWayAsync(CancellationToken cancellationToken);

    /// <summary>Whether the end of a read is what a hole of the post looks like.</summary>
    /// <param name="error">What the read threw.</param>
    /// <param name="file">The file that was read.</param>
    /// <param name="landing">The segment in which reading began.</param>
    /// <param name="landed">Where in it.</param>
    /// <param name="position">Where it ended.</param>
    /// <param name="cancellationToken">Gives the run up.</param>
    /// <returns>The hole; null when the read simply broke.</returns>
    ValueTask<HoleSighting?> ExplainAsync(IOException error, TestedFile file, Segment landing, long landed, long position, CancellationToken cancellationToken);

    /// <summary>Who delivered an article, for a sentence.</summary>
    string DelivererOf(TestedFile file, int segment);

    /// <summary>Adds what only this kind of session knows about itself.</summary>
    void Note(MetricSheet metrics);
}

/// <summary>A place where the post has a hole.</summary>
/// <param name="Segment">0-based index of the article.</param>
/// <param name="IsExact">Whether the read ended where it had to: with every byte before the hole delivered.</param>
internal readonly record struct HoleSighting(int Segment, bool IsExact);
