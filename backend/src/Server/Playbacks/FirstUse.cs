using Dapper;
using Sluice.Server.Database;
using Sluice.Server.Providers;
using Sluice.Usenet.Primitives;

namespace Sluice.Server.Playbacks;

/// <summary>Milestones of a new server.</summary>
internal enum FirstStep
{
    Played,

    /// <summary>The SABnzbd API received its first call with a valid key.</summary>
    Called,
}

/// <summary>Tracks first use in the table <c>first_step</c>. Saved with other learned data twice a minute and at shutdown.</summary>
/// <remarks>Thread-safe. Reading and recording a step touch only memory.</remarks>
internal sealed class FirstUse(PlaybackRegistry playbacks, SluiceDatabase database, TimeProvider time) : ILearnedMemory
{
    private readonly Lock _gate = new();

    // Guarded by _gate. The value is the time of the step, and whether that time is stored.
    private readonly Dictionary<FirstStep, (DateTimeOffset At, bool IsStored)> _done = [];

    public string Name => "the first playback and the first call of a program";

    /// <summary>Whether the step happened, in this run or an earlier one.</summary>
    public bool Has(FirstStep step)
    {
        lock (_gate)
        {
            if (_done.ContainsKey(step))
                return true;
        }

        if (step != FirstStep.Played || !playbacks.HasPlayed)
            return false;
        Note(step);
        return true;
    }

    public void Note(FirstStep step)
    {
        lock (_gate)
            _done.TryAdd(step, (time.WallTime(), false));
    }

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
