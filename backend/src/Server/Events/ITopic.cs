namespace Sluice.Server.Events;

/// <summary>Creates a frame's JSON, on one line, once the frame's number <paramref name="seq"/> is known. Must be fast and free of side effects.</summary>
internal delegate ReadOnlyMemory<byte> FrameMaker(long seq);

/// <summary>A topic that clients can watch (ADM-20). It does nothing while it is not watched. Thread-safe.</summary>
internal interface ITopic
{
    string Name { get; }

    /// <summary>Returns the complete state for a new watcher.</summary>
    ValueTask<FrameMaker> SnapshotAsync(CancellationToken cancellationToken);
}

internal interface IChangeTopic : ITopic
{
    /// <summary>Records changes until the result is disposed. After each change, calls <paramref name="changed"/>, which never blocks, on any thread.</summary>
    IDisposable Begin(Action changed);

    /// <summary>Returns and clears the recorded changes; null if there are none. Calls must not overlap.</summary>
    ValueTask<FrameMaker?> TakeAsync(CancellationToken cancellationToken);
}

internal interface ISampledTopic : ITopic
{
    TimeSpan Interval { get; }

    /// <summary>Returns the current state. Calls must not overlap.</summary>
    ValueTask<FrameMaker> SampleAsync(CancellationToken cancellationToken);
}

/// <summary>Topics whose name contains an id, such as <c>stream:&lt;id&gt;</c>.</summary>
internal interface ITopicFamily
{
    /// <summary>The name prefix, including the colon.</summary>
    string Prefix { get; }

    ITopic Of(string id);
}
