using System.Data.Common;
using Sluice.Server.Backups;
using Sluice.Server.Database;
using Sluice.Server.Diagnostics;

namespace Sluice.Server.Queue.Intake;

/// <summary>A stored NZB without a row in the restored database (OPS-12).</summary>
/// <param name="Name">Name of the item when the NZB was accepted; if unknown, the start of the hash.</param>
/// <param name="Category">Category of the item when the NZB was accepted; empty if unknown.</param>
/// <param name="At">When the NZB was accepted or last stored.</param>
/// <param name="Bytes">Bytes on disk.</param>
internal sealed record LaterNzb(string Hash, string Name, string Category, DateTimeOffset At, long Bytes);

/// <summary>
/// Lists the NZBs that are newer than a restored backup, and returns them to the queue. An NZB leaves the list once a row refers to it, so an
/// interruption neither loses nor duplicates it. Thread-safe.
/// </summary>
internal sealed class LaterNzbs(
    DataFolder folder,
    SluiceDatabase database,
    BlobStore blobs,
    AcceptedLog names,
    NzbIntake intake,
    IEnumerable<BlobReference> references) : IWorker
{
    private const int NameDigits = 12;

    private readonly IReadOnlyList<BlobReference> _references = [.. references];

    public string Name => "NZBs that came after the backup";

    private string Mark => Path.Combine(folder.Root, RestoreSteps.RequeueMark);

    /// <summary>Requeues all of these NZBs if the restore requested it.</summary>
    public Task RunAsync(CancellationToken stopping) => database.WhileOpenAsync(async () =>
    {
        if (!File.Exists(Mark))
            return;
        // If the queue is full, keep the mark so that the next startup adds the rest.
        if ((await RequeueAsync(null, stopping)).Refusal is null)
            File.Delete(Mark);
    });

    /// <summary>Returns the NZBs, newest first.</summary>
    public async Task<IReadOnlyList<LaterNzb>> ListAsync(CancellationToken cancellationToken)
    {
        var keys = await database.ReadAsync(FindKeys, cancellationToken);
        if (keys.Count == 0)
            return [];
        var known = names.Read();
        return [.. blobs.FindNzbs(keys).Select(Describe).OrderByDescending(nzb => nzb.At).ThenBy(nzb => nzb.Hash, StringComparer.Ordinal)];

        LaterNzb Describe((string Hash, DateTimeOffset At, long Bytes) found) => known.TryGetValue(found.Hash, out var nzb)
            ? new LaterNzb(found.Hash, nzb.Name, nzb.Category, nzb.At, found.Bytes)
            : new LaterNzb(found.Hash, $"NZB {found.Hash[..NameDigits]}", "", found.At, found.Bytes);
    }

    /// <summary>Requeues NZBs, oldest first. Returns their number, and why the next one was refused, or null.</summary>
    /// <param name="hashes">Hashes of the NZBs to requeue; null for all.</param>
    public async Task<(int Count, AddRefusal? Refusal)> RequeueAsync(IReadOnlyCollection<string>? hashes, CancellationToken cancellationToken)
    {
        var count = 0;
        foreach (var nzb in (await ListAsync(cancellationToken)).Reverse().Where(nzb => hashes?.Contains(nzb.Hash) != false))
        {
            var addition = new NzbAddition { FileName = nzb.Name + ".nzb", Name = nzb.Name, Category = nzb.Category };
            await using var plain = blobs.OpenNzb(nzb.Hash);
            var outcome = await intake.AddAsync(plain, length: null, addition, cancellationToken);
            if (outcome.Refusal is { } refusal)
                return (count, refusal);
            count++;
        }

        return (count, null);
    }

    /// <summary>Returns the keys of kept NZBs to which no row refers.</summary>
    private HashSet<UInt128> FindKeys(DbConnection connection)
    {
        var keys = KeptNzbs.Read(connection).ToHashSet();
        if (keys.Count > 0)
            keys.ExceptWith(_references.SelectMany(reference => BlobReference.Read(connection, reference)));
        return keys;
    }
}
