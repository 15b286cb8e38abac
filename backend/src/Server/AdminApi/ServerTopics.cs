using System.Text.Json;
using System.Text.Json.Serialization.Metadata;
using Microsoft.Extensions.Primitives;
using Sluice.Server.Auth;
using Sluice.Server.Diagnostics;
using Sluice.Server.Events;
using Sluice.Server.Settings;

namespace Sluice.Server.AdminApi;

/// <summary>Frames as JSON.</summary>
internal static class Frames
{
    /// <summary>Makes the JSON of a frame.</summary>
    public static FrameMaker Of<T>(JsonTypeInfo<T> type, Func<long, T> frame) => seq => JsonSerializer.SerializeToUtf8Bytes(frame(seq), type);
}

/// <summary>The topic <c>setup</c>: how far the setup is.</summary>
internal sealed class SetupTopic(AdminStore store) : IChangeTopic
{
    private SetupState? _told;

    /// <inheritdoc/>
    public string Name => "setup";

    /// <inheritdoc/>
    public IDisposable Begin(Action changed)
    {
        Volatile.Write(ref _told, SessionResource.StateOf(store));
        return ChangeToken.OnChange(store.GetChangeToken, changed);
    }

    /// <inheritdoc/>
    public ValueTask<FrameMaker> SnapshotAsync(CancellationToken cancellationToken) => new(Frame(FrameKind.Snapshot, SessionResource.StateOf(store)));

    /// <inheritdoc/>
    public ValueTask<FrameMaker?> TakeAsync(CancellationToken cancellationToken)
    {
        // Sessions and keys change far more often.
        var state = SessionResource.StateOf(store);
        return Interlocked.Exchange(ref _told, state) == state ? new((FrameMaker?)null) : new(Frame(FrameKind.Delta, state));
    }

    private static FrameMaker Frame(FrameKind kind, SetupState state) => Frames.Of(EventsJson.Default.SetupFrame, seq => new SetupFrame(kind, seq, state));
}

/// <summary>The topic <c>config</c>: which settings have another value.</summary>
internal sealed class ConfigTopic(SettingsSource settings) : IChangeTopic
{
    private EffectiveSettings? _told;

    /// <inheritdoc/>
    public string Name => "config";

    /// <inheritdoc/>
    public IDisposable Begin(Action changed)
    {
        Volatile.Write(ref _told, settings.Current);
        return ChangeToken.OnChange(settings.GetChangeToken, changed);
    }

    /// <inheritdoc/>
    public ValueTask<FrameMaker> SnapshotAsync(CancellationToken cancellationToken) =>
        new(Frames.Of(EventsJson.Default.ConfigFrame, seq => new ConfigFrame(FrameKind.Snapshot, seq, [])));

    /// <inheritdoc/>
    public ValueTask<FrameMaker?> TakeAsync(CancellationToken cancellationToken)
    {
        var current = settings.Current;
        var before = Interlocked.Exchange(ref _told, current)!;
        string[] keys =
        [
            .. current.All.Where(now => before[now.Definition.Key] is var then && (then.Value != now.Value || then.Origin != now.Origin)).Select(now => now.Definition.Key),
        ];
        return keys.Length == 0 ? new((FrameMaker?)null) : new(Frames.Of(EventsJson.Default.ConfigFrame, seq => new ConfigFrame(FrameKind.Delta, seq, keys)));
    }
}

/// <summary>The topic <c>logs</c>: new lines of the log.</summary>
internal sealed class LogsTopic(LogRing ring) : IChangeTopic
{
    // Lines of a quarter of a second; where there are more, the page reads them itself.
    private const int MostLines = 100;
    private const int MostCharacters = 24_000;

    private long _told;

    /// <inheritdoc/>
    public string Name => "logs";

    /// <inheritdoc/>
    public IDisposable Begin(Action changed)
    {
        var notes = ring.Listen(changed);
        Interlocked.Exchange(ref _told, ring.State.Last);
        return notes;
    }

    /// <inheritdoc/>
    public ValueTask<FrameMaker> SnapshotAsync(CancellationToken cancellationToken) =>
        new(Frames.Of(EventsJson.Default.LogsFrame, seq => new LogsFrame(FrameKind.Snapshot, seq, ring.State.Count, null)));

    /// <inheritdoc/>
    public ValueTask<FrameMaker?> TakeAsync(CancellationToken cancellationToken)
    {
        var (count, last) = ring.State;
        var before = Interlocked.Exchange(ref _told, last);
        if (before >= last)
            return new((FrameMaker?)null);
        var lines = ring.After(before, MostLines);
        // A line that came since the number was read is told with the next ones.
        var shown = lines is null || lines.Sum(line => line.Text.Length) > MostCharacters
            ? null
            : lines.Where(line => line.Number <= last).Select(LogResource.Shape).ToList();
        return new(Frames.Of(EventsJson.Default.LogsFrame, seq => new LogsFrame(FrameKind.Delta, seq, count, shown)));
    }
}
