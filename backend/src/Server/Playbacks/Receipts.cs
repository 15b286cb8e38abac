using Microsoft.Extensions.Options;
using Sluice.Server.Diagnostics;
using Sluice.Server.Providers;
using Sluice.Server.Settings;
using Sluice.Usenet.Primitives;

namespace Sluice.Server.Playbacks;

/// <summary>
/// Writes the receipts of playbacks (OPS-43): those of open playbacks with other learned data twice a minute if something moved, the final state once a
/// playback is forgotten, and one row per client and hour for scans.
/// </summary>
/// <remarks>Thread-safe: one save at a time. Playbacks are ended at shutdown before the last save, so that receipts and lanes agree.</remarks>
internal sealed class Receipts(PlaybackRegistry playbacks, ReceiptStore store, IOptionsMonitor<ReceiptOptions> options, TimeProvider time)
    : ILearnedMemory, IWorker, IDisposable
{
    // Reached only if the database takes no writes for long.
    private const int MaxUnsaved = 10_000;

    private static readonly TimeSpan PruneInterval = TimeSpan.FromDays(1);

    private readonly SemaphoreSlim _saving = new(1);

    // The holder of _saving uses the fields below.
    private readonly List<PlayedFile> _ending = [];
    private readonly Dictionary<string, Receipt> _saved = [];
    private readonly Dictionary<string, Receipt> _unsaved = [];
    private (DateTimeOffset At, TimeSpan Retention)? _pruned;

    public string Name => "the receipts of playbacks";

    public Task RestoreAsync(CancellationToken cancellationToken) => Task.CompletedTask;

    public async Task SaveAsync(CancellationToken cancellationToken)
    {
        await _saving.WaitAsync(cancellationToken);
        try
        {
            Collect();
            await WriteAsync(cancellationToken);
        }
        finally
        {
            _saving.Release();
        }
    }

    public Task FinishAsync(CancellationToken cancellationToken)
    {
        playbacks.ForgetAll();
        return Task.CompletedTask;
    }

    public void Dispose() => _saving.Dispose();

    /// <summary>Collects the receipts that changed. A forgotten playback is final once the last of its requests has ended.</summary>
    private void Collect()
    {
        _ending.AddRange(playbacks.TakeForgotten());
        foreach (var played in _ending.ToArray())
        {
            if (played.IsOpen)
            {
                AddOpen(played);
                continue;
            }

            _ending.Remove(played);
            _saved.Remove(played.Id);
            var receipt = played.Close();
            if (!played.IsPlayback)
            {
                receipt = receipt.ToScan();
                receipt = _unsaved.TryGetValue(receipt.Id, out var others) ? others.With(receipt) : receipt;
            }

            Add(receipt);
        }

        foreach (var played in playbacks.List())
            AddOpen(played);
    }

    private void AddOpen(PlayedFile played)
    {
        if (!played.IsPlayback)
            return;
        var receipt = played.ToReceipt();
        if (_saved.TryGetValue(receipt.Id, out var saved) && receipt.IsAs(saved))
            return;
        Add(receipt);
        _saved[receipt.Id] = receipt;
    }

    private void Add(Receipt receipt)
    {
        if (_unsaved.Count < MaxUnsaved || _unsaved.ContainsKey(receipt.Id))
            _unsaved[receipt.Id] = receipt;
    }

    private async Task WriteAsync(CancellationToken cancellationToken)
    {
        var (now, retention) = (time.WallTime(), options.CurrentValue.Retention);
        if (retention == TimeSpan.Zero)
            _unsaved.Clear();
        if (_unsaved.Count > 0)
        {
            await store.WriteAsync([.. _unsaved.Values], cancellationToken);
            _unsaved.Clear();
        }

        // A shorter retention applies at once.
        if (_pruned is { } pruned && pruned.Retention == retention && now - pruned.At < PruneInterval)
            return;
        if (await store.PruneAsync(retention == TimeSpan.Zero ? DateTimeOffset.MaxValue : now - retention, cancellationToken))
            _pruned = (now, retention);
    }
}
