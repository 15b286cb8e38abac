using Sluice.Server.Events;

namespace Sluice.Server.AdminApi;

/// <summary>The topic <c>stats</c>: the last second, and what has changed beside it.</summary>
internal sealed class StatsTopic(StatViews views) : ISampledTopic
{
    // What the last frame told; null where the next has to tell all.
    private Told? _told;

    /// <inheritdoc/>
    public string Name => "stats";

    /// <inheritdoc/>
    public TimeSpan Interval => TimeSpan.FromSeconds(1);

    /// <inheritdoc/>
    public async ValueTask<FrameMaker> SnapshotAsync(CancellationToken cancellationToken)
    {
        var now = new Told(await views.FiguresAsync(cancellationToken), views.Attention, views.Steps);
        // This client may know more than the last frame told: what has been taken back since is told again.
        Volatile.Write(ref _told, null);
        var sample = views.Now;
        return Frames.Of(EventsJson.Default.StatsFrame, seq => new StatsFrame(FrameKind.Snapshot, seq, sample, now.Figures, now.Attention, now.Steps));
    }

    /// <inheritdoc/>
    public async ValueTask<FrameMaker> SampleAsync(CancellationToken cancellationToken)
    {
        var before = Volatile.Read(ref _told);
        var now = new Told(await views.FiguresAsync(cancellationToken), views.Attention, views.Steps);
        Interlocked.CompareExchange(ref _told, now, before);
        var sample = views.Now;
        return Frames.Of(EventsJson.Default.StatsFrame, seq => new StatsFrame(
            FrameKind.Delta,
            seq,
            sample,
            now.Figures == before?.Figures ? null : now.Figures,
            before is not null && now.Attention.SequenceEqual(before.Attention) ? null : now.Attention,
            now.Steps == before?.Steps ? null : now.Steps));
    }

    private sealed record Told(StatFigures Figures, IReadOnlyList<AttentionRow> Attention, FirstSteps Steps);
}

/// <summary>The topic <c>streams</c>: all playbacks.</summary>
internal sealed class StreamsTopic(StreamViews views) : ISampledTopic
{
    /// <inheritdoc/>
    public string Name => "streams";

    /// <inheritdoc/>
    public TimeSpan Interval => TimeSpan.FromSeconds(1);

    /// <inheritdoc/>
    public ValueTask<FrameMaker> SnapshotAsync(CancellationToken cancellationToken) => new(Frame(FrameKind.Snapshot));

    /// <inheritdoc/>
    public ValueTask<FrameMaker> SampleAsync(CancellationToken cancellationToken) => new(Frame(FrameKind.Delta));

    private FrameMaker Frame(FrameKind kind)
    {
        var rows = views.Rows();
        return Frames.Of(EventsJson.Default.StreamsFrame, seq => new StreamsFrame(kind, seq, rows.Items, rows.Scans));
    }
}

/// <summary>The topics <c>stream:&lt;id&gt;</c>: one playback with all that is known of it.</summary>
internal sealed class StreamTopics(StreamViews views) : ITopicFamily
{
    /// <inheritdoc/>
    public string Prefix => "stream:";

    /// <inheritdoc/>
    public ITopic Of(string id) => new Topic(views, id, Prefix + id);

    private sealed class Topic(StreamViews views, string id, string name) : ISampledTopic
    {
        public string Name => name;

        public TimeSpan Interval => TimeSpan.FromMilliseconds(500);

        public ValueTask<FrameMaker> SnapshotAsync(CancellationToken cancellationToken) => FrameAsync(FrameKind.Snapshot, cancellationToken);

        public ValueTask<FrameMaker> SampleAsync(CancellationToken cancellationToken) => FrameAsync(FrameKind.Delta, cancellationToken);

        private async ValueTask<FrameMaker> FrameAsync(FrameKind kind, CancellationToken cancellationToken)
        {
            var detail = await views.DetailAsync(id, cancellationToken);
            return Frames.Of(EventsJson.Default.StreamFrame, seq => new StreamFrame(kind, seq, detail));
        }
    }
}

/// <summary>The topic <c>providers</c>: how all of them are.</summary>
internal sealed class ProvidersTopic(ProviderTable table) : ISampledTopic
{
    /// <inheritdoc/>
    public string Name => "providers";

    /// <inheritdoc/>
    public TimeSpan Interval => TimeSpan.FromSeconds(2);

    /// <inheritdoc/>
    public ValueTask<FrameMaker> SnapshotAsync(CancellationToken cancellationToken) => new(Frame(FrameKind.Snapshot));

    /// <inheritdoc/>
    public ValueTask<FrameMaker> SampleAsync(CancellationToken cancellationToken) => new(Frame(FrameKind.Delta));

    private FrameMaker Frame(FrameKind kind)
    {
        var rows = table.Rows();
        return Frames.Of(EventsJson.Default.ProvidersFrame, seq => new ProvidersFrame(kind, seq, rows));
    }
}
