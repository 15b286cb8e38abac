namespace Sluice.Server.Events;

/// <summary>Makes the JSON of a frame on one line when its number <paramref name="seq"/> is known. Must be fast and without side effects.</summary>
internal delegate ReadOnlyMemory<byte> FrameMaker(long seq);

/// <summary>A topic that clients can watch (ADM-20). Works only while it has a watcher.</summary>
/// <remarks>Thread-safe.</remarks>
internal interface ITopic
{
    string Name { get; }

    /// <summary>The complete state for a new watcher.</summary>
    ValueTask<FrameMaker> SnapshotAsync(CancellationToken cancellationToken);
}

internal interface IChangeTopic : ITopic
{
    /// <summary>
    /// Starts recording changes until the result is disposed. <paramref name="changed"/> is called after each change, from any thread, and never
    /// waits.
    /// </summary>
    IDisposable Begin(Action changed);

    /// <summary>Returns and clears the recorded changes; null if there are none. Calls never overlap.</summary>
    ValueTask<FrameMaker?> TakeAsync(CancellationToken cancellationToken);
}

internal interface ISampledTopic : ITopic
{
    TimeSpan Interval { get; }

    /// <summary>Returns the current state. Calls never overlap.</summary>
    ValueTask<FrameMaker> SampleAsync(CancellationToken cancellationToken);
}

/// <summary>Topics with an id in their name, as in <c>stream:&lt;id&gt;</c>.</summary>
internal interface ITopicFamily
{
    /// <summary>The name prefix including the colon.</summary>
    string Prefix { get; }

    ITopic Of(string id);
}
