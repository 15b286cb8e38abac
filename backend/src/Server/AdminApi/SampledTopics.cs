using System.Text.Json;
using Sluice.Server.Auth;
using Sluice.Server.Diagnostics;
using Sluice.Server.Events;
using Sluice.Usenet.Primitives;

namespace Sluice.Server.AdminApi;

/// <summary>The topic <c>stats</c>: the last second, and changed figures.</summary>
internal sealed class StatsTopic(StatViews views) : ISampledTopic
{
    // Values in the last frame; null if the next frame must contain everything.
    private Values? _last;

    public string Name => "stats";

    public TimeSpan Interval => TimeSpan.FromSeconds(1);

    public async ValueTask<FrameMaker> SnapshotAsync(CancellationToken cancellationToken)
    {
        var now = new Values(await views.FiguresAsync(cancellationToken), views.Attention, views.Steps);
        // This client may have newer values than the last frame contained, so the next frame repeats everything.
        Volatile.Write(ref _last, null);
        var sample = views.Now;
        return seq => JsonSerializer.SerializeToUtf8Bytes(new StatsFrame(FrameKind.Snapshot, seq, sample, now.Figures, now.Attention, now.Steps), AdminJson.Default.StatsFrame);
    }

    public async ValueTask<FrameMaker> SampleAsync(CancellationToken cancellationToken)
    {
        var before = Volatile.Read(ref _last);
        var now = new Values(await views.FiguresAsync(cancellationToken), views.Attention, views.Steps);
        Interlocked.CompareExchange(ref _last, now, before);
        var sample = views.Now;
        var figures = now.Figures == before?.Figures ? null : now.Figures;
        var attention = before is not null && now.Attention.SequenceEqual(before.Attention) ? null : now.Attention;
        var steps = now.Steps == before?.Steps ? null : now.Steps;
        return seq => JsonSerializer.SerializeToUtf8Bytes(new StatsFrame(FrameKind.Delta, seq, sample, figures, attention, steps), AdminJson.Default.StatsFrame);
    }

    private sealed record Values(StatFigures Figures, IReadOnlyList<AttentionRow> Attention, FirstSteps Steps);
}

internal sealed class StreamsTopic(StreamViews views) : ISampledTopic
{
    public string Name => "streams";

    public TimeSpan Interval => TimeSpan.FromSeconds(1);

    public ValueTask<FrameMaker> SnapshotAsync(CancellationToken cancellationToken) => new(Frame(FrameKind.Snapshot));

    public ValueTask<FrameMaker> SampleAsync(CancellationToken cancellationToken) => new(Frame(FrameKind.Delta));

    private FrameMaker Frame(FrameKind kind)
    {
        var rows = views.Rows();
        return seq => JsonSerializer.SerializeToUtf8Bytes(new StreamsFrame(kind, seq, rows.Items, rows.Scans), AdminJson.Default.StreamsFrame);
    }
}

/// <summary>The topics <c>stream:&lt;id&gt;</c>: one playback with its details.</summary>
internal sealed class StreamTopics(StreamViews views) : ITopicFamily
{
    public string Prefix => "stream:";

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
            return seq => JsonSerializer.SerializeToUtf8Bytes(new StreamFrame(kind, seq, detail), AdminJson.Default.StreamFrame);
        }
    }
}

internal sealed class ProvidersTopic(ProviderTable table) : ISampledTopic
{
    public string Name => "providers";

    public TimeSpan Interval => TimeSpan.FromSeconds(2);

    public ValueTask<FrameMaker> SnapshotAsync(CancellationToken cancellationToken) => new(Frame(FrameKind.Snapshot));

    public ValueTask<FrameMaker> SampleAsync(CancellationToken cancellationToken) => new(Frame(FrameKind.Delta));

    private FrameMaker Frame(FrameKind kind)
    {
        var rows = table.Rows();
        return seq => JsonSerializer.SerializeToUtf8Bytes(new ProvidersFrame(kind, seq, rows), AdminJson.Default.ProvidersFrame);
    }
}

/// <summary>The topic <c>clients</c>: who has recently read the tree, so that the setup notices a new mount.</summary>
internal sealed class ClientsTopic(RecentClients clients, TimeProvider time) : ISampledTopic
{
    private const int MaxRows = 5;

    public string Name => "clients";

    public TimeSpan Interval => TimeSpan.FromSeconds(1);

    public ValueTask<FrameMaker> SnapshotAsync(CancellationToken cancellationToken) => new(Frame(FrameKind.Snapshot));

    public ValueTask<FrameMaker> SampleAsync(CancellationToken cancellationToken) => new(Frame(FrameKind.Delta));

    private FrameMaker Frame(FrameKind kind)
    {
        var (now, rows) = (time.WallTime(), clients.Snapshot(MaxRows));
        return seq => JsonSerializer.SerializeToUtf8Bytes(new ClientsFrame(kind, seq, now, rows), AdminJson.Default.ClientsFrame);
    }
}
