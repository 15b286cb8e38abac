using System.Data.Common;
using Microsoft.Extensions.Options;
using Sluice.Server.Database;
using Sluice.Server.History;
using Sluice.Server.Library;
using Sluice.Server.Outbound;
using Sluice.Server.Settings;
using Sluice.Usenet.Primitives;
using Sluice.Usenet.Probing;

namespace Sluice.Server.Queue.Steps;

/// <summary>Names the files and publishes the release. A single transaction writes the release, files, maps, history item and queue (IMP-5).</summary>
internal sealed class Publish(
    SluiceDatabase database,
    StoredNzbs stored,
    ReleaseNames names,
    SameReleases same,
    ShownFiles shown,
    StrmFiles strm,
    ProofQueue proofs,
    RcloneNotifier rclone,
    CompleteFolder complete,
    IOptionsMonitor<WebDavOptions> webDav,
    IOptionsMonitor<ImportOptions> import,
    TimeProvider time,
    ILogger<Publish> logger) : IImportStep
{
    public string Name => nameof(Publish);

    public int Weight => 5;

    public async Task<ImportFailure?> RunAsync(ImportWork work, StepProgress progress, CancellationToken cancellationToken)
    {
        var started = time.GetTimestamp();
        var par2 = await work.Names.WaitAsync(cancellationToken);
        var plan = ReleasePlan.Of(work.Map, work.Heads, work.Sort.Targets, par2);
        while (true)
        {
            // The files must be named first, because .strm files are written before the commit.
            var (named, written) = await WriteStrmAsync(plan, work, cancellationToken);
            if (named is { Lack: not ReleaseLack.None })
                return Explain(named.Lack);

            Failpoint.Reach("publish-begins");
            var outcome = await database.WriteAsync(connection => Write(connection, plan, named, work, progress, started), cancellationToken);
            Failpoint.Reach("publish-committed");
            if (outcome.Published is not { } published)
            {
                // The item was removed, paused or renamed in the meantime, or none of its files is to be published.
                strm.Withdraw(written);
                if (outcome.IsStale)
                    continue;
                return Explain(outcome.Lack);
            }

            QueueLog.Published(logger, published.Name, work.Item.Id, outcome.Files, (long)time.GetElapsedTime(work.Began).TotalMilliseconds);
            rclone.ReleaseChanged(published.Folder, published.ReleaseFolder);
            foreach (var item in outcome.Shown)
                rclone.ReleaseChanged(item.Folder, item.ReleaseFolder);
            proofs.Added.Set();
            await stored.ReleaseAsync(outcome.BlobHashes, CancellationToken.None);
            return null;
        }
    }

    private static ImportFailure? Explain(ReleaseLack lack) => lack switch
    {
        ReleaseLack.None => null,
        ReleaseLack.MoreThanSamples => ImportFailure.OnlySamples(),
        _ => ImportFailure.NoMedia(),
    };

    private async Task<(NamedRelease? Named, IReadOnlyList<string> Written)> WriteStrmAsync(ReleasePlan plan, ImportWork work, CancellationToken cancellationToken)
    {
        if (!strm.AreWanted)
            return (null, []);
        var named = await database.ReadAsync(
            connection => QueueStore.Find(connection, work.Item.Id) is { } item ? Describe(connection, plan, item, work) : null, cancellationToken);
        return named is { Lack: ReleaseLack.None }
            ? (named, await strm.WriteAsync(named, cancellationToken))
            : (named, []);
    }

    private Outcome Write(DbConnection connection, ReleasePlan plan, NamedRelease? expected, ImportWork work, StepProgress progress, long started)
    {
        // Read the item again, because it may have been removed, paused or renamed in the meantime.
        if (QueueStore.Find(connection, work.Item.Id) is not { Paused: false } found)
            return new Outcome();
        var named = Describe(connection, plan, found, work);
        if (named.Lack != ReleaseLack.None)
            return new Outcome { Lack = named.Lack };
        if (expected is not null && (expected.Category, expected.Folder, expected.Same) != (named.Category, named.Folder, named.Same))
            return new Outcome { IsStale = true };

        var item = QueueStore.Finish(connection, work.Item.Id)!;
        Failpoint.Reach("publish-dequeued");
        progress.Findings = new StepFindings(("files", named.Files.Count)) { Names = named.Sources };

        // Measure the duration now, because the row below includes it.
        var timing = new StepTiming(Name, (long)time.GetElapsedTime(started).TotalMilliseconds, progress.Findings.Words);
        var now = time.WallTime();
        var shown = named.Same is { } shared ? same.Open(connection, shared, plan) : [];
        var releaseId = named.Same?.Id ?? LibraryStore.Insert(
            connection,
            new NewRelease(named.Category, named.Folder, item.NzbHash, plan.PostedFilesOf(named.Files.Select(file => file.Content)), named.Files),
            now);
        TitleStore.SetSample(connection, releaseId, work.Checked.Answered, work.Checked.Missing);
        // The .strm library needs the release, whatever other programs do with it.
        if (import.CurrentValue.StrmLibrary is null)
            ReleaseClaims.Open(connection, releaseId, isNew: named.Same is null);
        else
            ReleaseClaims.Take(connection, releaseId);
        var published = new HistoryItem(item)
        {
            Name = named.Name,
            Folder = named.Category,
            ReleaseFolder = named.Folder,
            StrmRoot = complete.StrmRoot,
            Priority = (int)item.Priority,
            NzbHash = item.NzbHash,
            NzbLength = item.NzbLength,
            Bytes = named.Files.Sum(file => file.Length),
            ReleaseId = releaseId,
            StartedAt = work.StartedAt,
            CompletedAt = now,
            Steps = [.. work.Timings, timing],
        };
        Failpoint.Reach("publish-shelved");
        HistoryStore.Insert(connection, published);
        return new Outcome { Published = published, Shown = shown, Files = named.Files.Count, BlobHashes = [.. item.BlobHashes] };
    }

    private NamedRelease Describe(DbConnection connection, ReleasePlan plan, QueueItem item, ImportWork work)
    {
        var windowsSafe = webDav.CurrentValue.WindowsSafePaths;
        var name = ReleaseNames.Choose(item, work.Read!.Title, windowsSafe);
        var named = same.Apply(connection, item, NamedRelease.Of(plan, item, name, import.CurrentValue, shown.HavePar2, windowsSafe));
        return named with { Folder = PathKey.OfName(names.FindFolder(connection, named.Category, name, named.Same)) };
    }

    private sealed record Outcome
    {
        public HistoryItem? Published { get; init; }

        /// <summary>Folders of earlier items whose links appear again.</summary>
        public IReadOnlyList<ItemFolder> Shown { get; init; } = [];

        public int Files { get; init; }
        public IReadOnlyList<string> BlobHashes { get; init; } = [];
        public bool IsStale { get; init; }
        public ReleaseLack Lack { get; init; }
    }
}
