using System.Text.Json;
using Microsoft.Extensions.Primitives;
using Sluice.Server.Auth;
using Sluice.Server.Diagnostics;
using Sluice.Server.Events;
using Sluice.Server.Settings;

namespace Sluice.Server.AdminApi;

internal sealed class SetupTopic(AdminStore store) : IChangeTopic
{
    private SetupState? _last;

    public string Name => "setup";

    public IDisposable Begin(Action changed)
    {
        Volatile.Write(ref _last, SessionResource.StateOf(store));
        return ChangeToken.OnChange(store.GetChangeToken, changed);
    }

    public ValueTask<FrameMaker> SnapshotAsync(CancellationToken cancellationToken) => new(Frame(FrameKind.Snapshot, SessionResource.StateOf(store)));

    public ValueTask<FrameMaker?> TakeAsync(CancellationToken cancellationToken)
    {
        // Compare the state, because the token also fires for sessions and keys, which change much more often.
        var state = SessionResource.StateOf(store);
        return Interlocked.Exchange(ref _last, state) == state ? new((FrameMaker?)null) : new(Frame(FrameKind.Delta, state));
    }

    private static FrameMaker Frame(FrameKind kind, SetupState state) =>
        seq => JsonSerializer.SerializeToUtf8Bytes(new SetupFrame(kind, seq, state), AdminJson.Default.SetupFrame);
}

/// <summary>The topic <c>config</c>: settings whose value has changed.</summary>
internal sealed class ConfigTopic(SettingsSource settings) : IChangeTopic
{
    private EffectiveSettings? _last;

    public string Name => "config";

    public IDisposable Begin(Action changed)
    {
        Volatile.Write(ref _last, settings.Current);
        return ChangeToken.OnChange(settings.GetChangeToken, changed);
    }

    public ValueTask<FrameMaker> SnapshotAsync(CancellationToken cancellationToken) =>
        new(Frame(FrameKind.Snapshot, []));

    public ValueTask<FrameMaker?> TakeAsync(CancellationToken cancellationToken)
    {
        var current = settings.Current;
        var before = Interlocked.Exchange(ref _last, current)!;
        string[] keys =
        [
            .. current.All.Where(now => before[now.Definition.Key] is var then && (then.Value != now.Value || then.Origin != now.Origin)).Select(now => now.Definition.Key),
        ];
        return keys.Length == 0 ? new((FrameMaker?)null) : new(Frame(FrameKind.Delta, keys));
    }

    private static FrameMaker Frame(FrameKind kind, string[] keys) =>
        seq => JsonSerializer.SerializeToUtf8Bytes(new ConfigFrame(kind, seq, keys), AdminJson.Default.ConfigFrame);
}

internal sealed class LogsTopic(LogRing ring) : IChangeTopic
{
    // Limits per quarter of a second. Above them, the page reloads.
    private const int MostLines = 100;
    private const int MostCharacters = 24_000;

    private long _last;

    public string Name => "logs";

    public IDisposable Begin(Action changed)
    {
        var notes = ring.Listen(changed);
        Interlocked.Exchange(ref _last, ring.State.Last);
        return notes;
    }

    public ValueTask<FrameMaker> SnapshotAsync(CancellationToken cancellationToken) =>
        new(Frame(FrameKind.Snapshot, ring.State.Count, null));

    public ValueTask<FrameMaker?> TakeAsync(CancellationToken cancellationToken)
    {
        var (count, last) = ring.State;
        var before = Interlocked.Exchange(ref _last, last);
        if (before >= last)
            return new((FrameMaker?)null);
        var lines = ring.After(before, MostLines);
        // Lines added after State was read go into the next frame.
        var shown = lines is null || lines.Sum(line => line.Text.Length) > MostCharacters
            ? null
            : lines.Where(line => line.Number <= last).Select(LogResource.Shape).ToList();
        return new(Frame(FrameKind.Delta, count, shown));
    }

    private static FrameMaker Frame(FrameKind kind, long count, IReadOnlyList<LogLine>? lines) =>
        seq => JsonSerializer.SerializeToUtf8Bytes(new LogsFrame(kind, seq, count, lines), AdminJson.Default.LogsFrame);
}
