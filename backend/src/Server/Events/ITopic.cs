namespace Sluice.Server.Events;

/// <summary>Makes the JSON of a frame, on one line, once the number of the frame is known. Quick, and without side effects.</summary>
/// <param name="seq">The number.</param>
internal delegate ReadOnlyMemory<byte> FrameMaker(long seq);

/// <summary>A part of what happens that can be watched by itself (ADM-20). All that it does, it does while somebody watches.</summary>
/// <remarks>Thread-safe.</remarks>
internal interface ITopic
{
    /// <summary>Its name.</summary>
    string Name { get; }

    /// <summary>All that a watcher has to know at the beginning.</summary>
    ValueTask<FrameMaker> SnapshotAsync(CancellationToken cancellationToken);
}

/// <summary>A topic that is told when something changes.</summary>
internal interface IChangeTopic : ITopic
{
    /// <summary>Begins to note changes.</summary>
    /// <param name="changed">Called after each change, from any thread; never waits.</param>
    /// <returns>Ends it when disposed of.</returns>
    IDisposable Begin(Action changed);

    /// <summary>What has changed since the last call, taken off the notes; null where that is nothing. Called by one at a time.</summary>
    ValueTask<FrameMaker?> TakeAsync(CancellationToken cancellationToken);
}

/// <summary>A topic that is looked at again and again.</summary>
internal interface ISampledTopic : ITopic
{
    /// <summary>Between two looks.</summary>
    TimeSpan Interval { get; }

    /// <summary>What it looks like now. Called by one at a time.</summary>
    ValueTask<FrameMaker> SampleAsync(CancellationToken cancellationToken);
}

/// <summary>Topics that are named by what they are about, as in <c>stream:&lt;id&gt;</c>.</summary>
internal interface ITopicFamily
{
    /// <summary>What their names begin with, the colon with it.</summary>
    string Prefix { get; }

    /// <summary>One of them.</summary>
    /// <param name="id">The rest of its name.</param>
    ITopic Of(string id);
}
