using System.Data.Common;
using Sluice.Server.Database;
using Sluice.Server.History;
using Sluice.Server.Library;
using Sluice.Server.Providers;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Primitives;
using Sluice.Usenet.Streams;

namespace Sluice.Server.Queue.Steps;

internal enum ImportEnd
{
    /// <summary>The item is in the history, or a client has removed or paused it.</summary>
    Left,

    /// <summary>The item stays in the queue until an external problem is resolved (IMP-82).</summary>
    Waits,

    /// <summary>The item stays in the queue, because the process is stopping.</summary>
    Stopped,
}

/// <summary>Imports one item: runs the steps, then moves it to the history or leaves it in the queue.</summary>
internal sealed class ImportJob(
    StepRunner steps,
    SluiceDatabase database,
    DataFolder folder,
    QueueStore store,
    QueueActivity activity,
    QueuePause pause,
    StoredNzbs stored,
    ReadPosts posts,
    DeadArticles dead,
    ProviderHost providers,
    ItemPasswords passwords,
    QueueMetrics metrics,
    TimeProvider time,
    ILogger<ImportJob> logger)
{
    /// <summary>Damage caused by the connection should be gone after this delay.</summary>
    private static readonly TimeSpan AskAgainAfter = new StreamOptions().AskAgainAfter;

    /// <returns>How the import ended, and the cause if the item has to wait.</returns>
    public async Task<(ImportEnd End, string Cause)> RunAsync(string id, CancellationToken stopping)
    {
        using var cancel = CancellationTokenSource.CreateLinkedTokenSource(stopping);
        var (startedAt, began) = (time.WallTime(), time.GetTimestamp());
        activity.Begin(id, steps.FirstStep, began, cancel);
        ImportWork? work = null;
        var read = posts.Take(id);
        try
        {
            // Read after Begin, so that a client's pause or removal is either already in the row or cancels the import.
            if (await store.FindAsync(id, cancel.Token) is not { Paused: false } item || (pause.IsPaused && item.Priority != QueuePriority.Force))
                return (ImportEnd.Left, "");

            // Check before fetching articles, because an unreadable password would fail the import only at the end.
            _ = passwords.Require(item.Id, item.Password);
            work = new ImportWork(item, startedAt, began) { Read = read };
            var failure = await ImportAsync(work, cancel.Token);
            if (failure is null)
                metrics.AddCompleted();
            else
                await FailAsync(work, failure, cancel.Token);
            return (ImportEnd.Left, "");
        }
        // A canceled import may throw the same exception as an unavailable provider, but the item must not wait.
        catch (Exception e) when (cancel.IsCancellationRequested && (e is OperationCanceledException || IsPassing(e)))
        {
            return (stopping.IsCancellationRequested ? ImportEnd.Stopped : ImportEnd.Left, "");
        }
        catch (Exception e) when (IsPassing(e))
        {
            if (work?.Read is { } done)
                posts.Keep(id, done);
            return (ImportEnd.Waits, e.Message);
        }
        finally
        {
            if (work is not null)
                await work.DisposeAsync();
            activity.End(id);
        }
    }

    private async Task<ImportFailure?> ImportAsync(ImportWork work, CancellationToken cancellationToken)
    {
        try
        {
            var failure = await steps.RunAsync(work, cancellationToken);
            if (failure is not { Reason: FailureReason.CorruptArticles })
                return failure;

            // The connection may have damaged the articles, so fetch them again later over other connections (F17).
            QueueLog.AsksAgain(logger, work.Item.Id, AskAgainAfter.TotalSeconds, failure.Sentence);
            await Task.Delay(AskAgainAfter, time, cancellationToken);
            foreach (var connection in work.Suspects)
                providers.Distrust(connection);
            work.Timings.Clear();
            return await steps.RunAsync(work, cancellationToken);
        }
        catch (StoredNzbLostException e) when (!e.IsMissing)
        {
            return ImportFailure.StoredNzbLost();
        }
        catch (Exception e) when (e is not OperationCanceledException && !IsPassing(e))
        {
            QueueLog.Broke(logger, e, work.Item.Id);
            return ImportFailure.InternalError(work.Item.Id);
        }
    }

    /// <summary>Whether a failure has an external cause: a provider, the database, the storage or a missing blob.</summary>
    private bool IsPassing(Exception failure) =>
        failure is NntpException or DbException or StoredNzbLostException || StorageException.From(failure, folder.Root) is not null;

    private async Task FailAsync(ImportWork work, ImportFailure failure, CancellationToken cancellationToken)
    {
        var now = time.WallTime();
        var moved = await database.WriteAsync(
            connection =>
            {
                // Null if a client has removed or paused the item.
                if (QueueStore.Finish(connection, work.Item.Id) is { } item)
                {
                    Failpoint.Reach("failure-dequeued");
                    HistoryStore.Insert(connection, FailedItem.Of(item, failure, work.Timings, now, work.StartedAt));
                    if (work.Gone.Count > 0 && work.Item.PostedAt < now - DeadArticles.LeastAge)
                        dead.Remember(connection, work.Gone);
                    return item;
                }

                return null;
            },
            cancellationToken);
        Failpoint.Reach("failure-committed");
        if (moved is null)
            return;
        metrics.AddFailed(failure.Reason);
        QueueLog.Failed(logger, moved.Name, moved.Id, failure.Sentence);
        await stored.ReleaseAsync(moved.BlobHashes, CancellationToken.None);
    }
}
