using System.Data.Common;
using Microsoft.Extensions.Options;
using Sluice.Server.Database;
using Sluice.Server.History;
using Sluice.Server.Library;
using Sluice.Server.Settings;
using Sluice.Usenet.Primitives;

namespace Sluice.Server.Queue.Intake;

/// <summary>What a client wants changed about an item that it tries again.</summary>
/// <param name="Password">Password in place of that of the item; empty to keep it.</param>
/// <param name="Upload">Its first NZB takes the place of that of the item; null to keep it.</param>
internal sealed record QueueReturnChange(string Password, NzbUpload? Upload)
{
    /// <summary>Everything stays as it is.</summary>
    public static readonly QueueReturnChange None = new("", null);

    /// <summary>How it is tried.</summary>
    public AnotherTry Try { get; init; } = AnotherTry.Yes;

    /// <summary>The NZB that takes the place of that of the item, or null.</summary>
    public UploadedNzb? Nzb => Upload is { Nzbs: [var first, ..] } ? first : null;
}

/// <summary>What has become of an item that was to go back into the queue.</summary>
internal enum QueueReturnEnd
{
    /// <summary>It is there, or has failed again because what came for it is no NZB.</summary>
    Returned,

    /// <summary>There is no failed item of this id, or its NZB is gone.</summary>
    NoItem,

    /// <summary>As many items are queued as the settings allow.</summary>
    QueueFull,
}

/// <summary>
/// Puts failed items of the history back into the queue under the ids that they have (SAB-5). One transaction takes an item out of the one
/// and into the other, so that it is in exactly one of them at any time (IMP-5).
/// </summary>
internal sealed class QueueReturn(
    SluiceDatabase database,
    HistoryStore history,
    StoredNzbReader nzbs,
    BlobStore blobs,
    StoredNzbs stored,
    QueueSchedule schedule,
    UrlFetchWorker fetches,
    MeasureWorker measuring,
    ItemPasswords passwords,
    IOptionsMonitor<QueueOptions> queue,
    TimeProvider time)
{
    private const int PieceBytes = 64 << 10;

    /// <summary>Puts items back, one after the other, until the queue is full.</summary>
    /// <returns>The ids of the items that went back, and whether the queue was full before the last of them.</returns>
    public async Task<(IReadOnlyList<string> Returned, bool IsFull)> ReturnAllAsync(
        IEnumerable<string> ids, QueueReturnChange change, CancellationToken cancellationToken)
    {
        var returned = new List<string>();
        foreach (var id in ids)
        {
            var end = await ReturnAsync(id, change, cancellationToken);
            if (end == QueueReturnEnd.QueueFull)
                return (returned, true);
            if (end == QueueReturnEnd.Returned)
                returned.Add(id);
        }

        return (returned, false);
    }

    /// <summary>Puts an item back.</summary>
    /// <param name="id">The item.</param>
    /// <param name="change">What is different from its first time.</param>
    /// <param name="cancellationToken">Counts until the transaction begins.</param>
    public async Task<QueueReturnEnd> ReturnAsync(string id, QueueReturnChange change, CancellationToken cancellationToken)
    {
        if (await history.FindAsync(id, cancellationToken) is not { IsCompleted: false } item)
            return QueueReturnEnd.NoItem;
        var length = change.Nzb is { } nzb ? nzb.Blob?.PlainLength : await MeasureAsync(item, cancellationToken);
        if (length is null && change.Nzb is null && item.Url is null)
            return QueueReturnEnd.NoItem;

        HistoryItem? taken = null;
        Failpoint.Reach("retry-begins");
        var end = await database.WriteAsync(connection => Write(connection), cancellationToken);
        Failpoint.Reach("retry-committed");
        if (end == QueueReturnEnd.Returned)
        {
            schedule.Wake();
            fetches.Wake();
            measuring.Wake();
            // Only a retry with another NZB can have left the first one without use.
            await stored.ReleaseAsync(change.Nzb is not null && taken?.NzbHash is { } replaced ? [replaced] : [], CancellationToken.None);
        }

        return end;

        QueueReturnEnd Write(DbConnection connection)
        {
            if (queue.CurrentValue.MaxItems is var most and > 0 && QueueStore.Count(connection) >= most)
                return QueueReturnEnd.QueueFull;
            // Read anew: the item may have left meanwhile.
            taken = HistoryStore.TakeFailed(connection, id, needsNzb: change.Nzb is null);
            if (taken is null)
                return QueueReturnEnd.NoItem;

            Failpoint.Reach("retry-taken");
            var back = Describe(taken, change, length ?? 0);
            if (change.Nzb?.Failure is { } failure)
                HistoryStore.Insert(connection, FailedItem.Of(back, failure, [], time.WallTime()));
            else
                NzbIntake.Insert(connection, back, file: null);
            return QueueReturnEnd.Returned;
        }
    }

    private QueueItem Describe(HistoryItem item, QueueReturnChange change, long length) => new()
    {
        Id = item.Id,
        Name = item.Name,
        NzbName = item.NzbName,
        Category = item.Category,
        Folder = item.Folder,
        Priority = Enum.IsDefined((QueuePriority)item.Priority) ? (QueuePriority)item.Priority : QueuePriority.Normal,
        Password = change.Password.Length > 0 ? passwords.Seal(item.Id, QueueItem.LimitPassword(change.Password)) : item.Password,
        PostProcessing = item.PostProcessing,
        Script = item.Script,
        NzbHash = change.Nzb is { } nzb ? nzb.Blob?.Hash ?? "" : item.NzbHash ?? "",
        Url = change.Nzb is null ? item.Url : null,
        NzbLength = length,
        AddedAt = item.AddedAt,
        Named = true,
        Retried = change.Try,
        // The history has the size alone; the rest is read from the NZB again.
        EncodedBytes = change.Nzb is { } upload ? upload.Measure?.EncodedBytes ?? 0 : item.EncodedBytes,
        PostedAt = change.Nzb?.Measure?.PostedAt,
        Files = change.Nzb?.Measure?.Files,
        Segments = change.Nzb?.Measure?.Segments,
    };

    /// <summary>The length of the plain NZB of an item; null when the NZB is gone or cannot be read any more.</summary>
    private async Task<long?> MeasureAsync(HistoryItem item, CancellationToken cancellationToken)
    {
        if (item.NzbHash is not { } hash)
            return null;
        if (item.NzbLength > 0)
            return blobs.ContainsNzb(hash) ? item.NzbLength : null;

        // Of an item that failed before its length was kept.
        try
        {
            await using var plain = nzbs.Open(hash);
            var piece = new byte[PieceBytes];
            var length = 0L;
            while (await plain.ReadAsync(piece, cancellationToken) is var read and > 0)
                length += read;
            return length;
        }
        catch (Exception e) when (e is StoredNzbLostException or InvalidDataException)
        {
            return null;
        }
    }
}
