using System.Data.Common;
using Microsoft.Extensions.Options;
using Sluice.Server.Database;
using Sluice.Server.History;
using Sluice.Server.Library;
using Sluice.Server.Settings;
using Sluice.Usenet.Primitives;

namespace Sluice.Server.Queue.Intake;

/// <summary>Changes that a client requests when it retries an item.</summary>
/// <param name="Password">New password; empty keeps the old one.</param>
/// <param name="Upload">The upload whose first NZB replaces the old one; null keeps the old one.</param>
internal sealed record QueueReturnChange(string Password, NzbUpload? Upload)
{
    public static readonly QueueReturnChange None = new("", null);

    public RetryKind Try { get; init; } = RetryKind.Yes;

    public UploadedNzb? Nzb => Upload is { Nzbs: [var first, ..] } ? first : null;
}

internal enum QueueReturnEnd
{
    /// <summary>The item is queued again, or has failed again because its new content is not an NZB.</summary>
    Returned,

    /// <summary>There is no failed item with this id, or its NZB is lost.</summary>
    NoItem,

    QueueFull,
}

/// <summary>
/// Moves failed items from the history back to the queue under their old ids (SAB-5). One transaction keeps each item in exactly one place (IMP-5).
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

    /// <summary>Returns items to the queue one by one until it is full.</summary>
    /// <returns>The ids of the returned items, and whether the queue filled up before all were returned.</returns>
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
            // Release the old NZB only if the retry supplied another one.
            await stored.ReleaseAsync(change.Nzb is not null && taken?.NzbHash is { } replaced ? [replaced] : [], CancellationToken.None);
        }

        return end;

        QueueReturnEnd Write(DbConnection connection)
        {
            if (queue.CurrentValue.MaxItems is var most and > 0 && QueueStore.Count(connection) >= most)
                return QueueReturnEnd.QueueFull;
            // Read the item again, because a client may have removed it from the history.
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
        // The history stores only the size, so the other values are measured again.
        EncodedBytes = change.Nzb is { } upload ? upload.Measure?.EncodedBytes ?? 0 : item.EncodedBytes,
        PostedAt = change.Nzb?.Measure?.PostedAt,
        Files = change.Nzb?.Measure?.Files,
        Segments = change.Nzb?.Measure?.Segments,
    };

    /// <summary>Returns the length of the plain NZB, or null if the NZB is missing or unreadable.</summary>
    private async Task<long?> MeasureAsync(HistoryItem item, CancellationToken cancellationToken)
    {
        if (item.NzbHash is not { } hash)
            return null;
        if (item.NzbLength > 0)
            return blobs.ContainsNzb(hash) ? item.NzbLength : null;

        // Items that failed in an older version have no stored NZB length.
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
