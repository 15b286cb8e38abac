using Dapper;
using Sluice.Server.Database;
using Sluice.Server.Providers;
using Sluice.Usenet.Primitives;

namespace Sluice.Server.Playbacks;

/// <summary>What a new server is used for once and never again for the first time.</summary>
internal enum FirstStep
{
    /// <summary>A file was played.</summary>
    Played,

    /// <summary>A program has called the SABnzbd API with the right key.</summary>
    Called,
}

/// <summary>How far the first evening has come: table <c>first_step</c>. What happened is stored with what is learned, twice a minute and at the end.</summary>
/// <remarks>Thread-safe. Asking and noting touch memory alone.</remarks>
internal sealed class FirstEvening(PlaybackRegistry playbacks, SluiceDatabase database, TimeProvider time) : ILearnedMemory
{
    private readonly Lock _gate = new();

    // Guarded by the lock; the value is when it happened, and whether that is stored.
    private readonly Dictionary<FirstStep, (DateTimeOffset At, bool IsStored)> _done = [];

    /// <summary>Whether it has happened, now or in an earlier run.</summary>
    public bool Has(FirstStep step)
    {
        if (step == FirstStep.Played && playbacks.HasPlayed)
            Note(step);
        lock (_gate)
            return _done.ContainsKey(step);
    }

    /// <summary>It has happened.</summary>
    public void Note(FirstStep step)
    {
        lock (_gate)
            _done.TryAdd(step, (time.WallTime(), false));
    }

    /// <inheritdoc/>
    public async Task RestoreAsync(CancellationToken cancellationToken)
    {
        var rows = await database.ReadAsync(
            connection => (List<FirstStepRow>)[.. connection.Query<FirstStepRow>("SELECT name AS Name, at AS At FROM first_step")], cancellationToken);
        lock (_gate)
        {
            foreach (var row in rows)
            {
                if (Enum.TryParse<FirstStep>(row.Name, ignoreCase: true, out var step))
                    _done[step] = (StoredTime.Read(row.At), true);
            }
        }
    }

    /// <inheritdoc/>
    public async Task SaveAsync(CancellationToken cancellationToken)
    {
        Has(FirstStep.Played);
        FirstStepRow[] fresh;
        lock (_gate)
            fresh = [.. _done.Where(static step => !step.Value.IsStored).Select(static step => FirstStepRow.Of(step.Key, step.Value.At))];
        if (fresh.Length == 0)
            return;
        await database.WriteAsync(
            connection => connection.Execute("INSERT INTO first_step (name, at) VALUES (@Name, @At) ON CONFLICT (name) DO NOTHING", fresh), cancellationToken);
        lock (_gate)
        {
            foreach (var row in fresh)
                _done[Enum.Parse<FirstStep>(row.Name, ignoreCase: true)] = (StoredTime.Read(row.At), true);
        }
    }

    internal sealed record FirstStepRow(string Name, long At)
    {
        public static FirstStepRow Of(FirstStep step, DateTimeOffset at) => new(step == FirstStep.Played ? "played" : "called", at.ToUnixTimeMilliseconds());
    }
}
