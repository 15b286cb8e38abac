using Microsoft.Extensions.Options;
using Sluice.Server.Database;
using Sluice.Server.Diagnostics;
using Sluice.Server.History;
using Sluice.Server.Library;
using Sluice.Server.Outbound;
using Sluice.Server.Playbacks;
using Sluice.Server.Providers;
using Sluice.Server.Settings;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Primitives;
using Sluice.Usenet.Streams;

namespace Sluice.Server.Queue.Steps;

/// <summary>Repeats the import steps up to the map for a release already in the library. Names, lengths and validators stay the same.</summary>
/// <remarks>There are two causes. If a reader refuted a predicted volume, every header is read (IMP-52). If the map comes from an old server and is unverified,
/// the NZB is opened for the first time (IMP-36). Releases with waiting readers go first, the others one by one while nothing plays.</remarks>
internal sealed class RemappingWorker(
    Predictions predictions,
    ReleaseOpenings openings,
    IEnumerable<IImportStep> steps,
    SluiceDatabase database,
    LibraryStore library,
    HistoryStore history,
    PlaybackRegistry playbacks,
    RcloneNotifier rclone,
    ProviderHost providers,
    SincePaced sincePaced,
    ItemPasswords passwords,
    IOptionsMonitor<QueueOptions> options,
    TimeProvider time,
    ILogger<RemappingWorker> logger) : IWorker
{
    // A scanner may request many films at once, and playback must keep some connections.
    private const int MostWanted = 4;

    private static readonly TimeSpan Pause = TimeSpan.FromSeconds(30);
    private static readonly TimeSpan RetryAfter = TimeSpan.FromMinutes(10);
    private static readonly TimeSpan PlayingInterval = TimeSpan.FromSeconds(5);
    private static readonly TimeSpan ClaimInterval = TimeSpan.FromSeconds(1);

    /// <summary>Damage caused by the connection should be gone after this delay (F17).</summary>
    private static readonly TimeSpan AskAgainAfter = new StreamOptions().AskAgainAfter;

    public string Name => "the maps of archives";

    public Task RunAsync(CancellationToken stopping) => database.WhileOpenAsync(async () =>
    {
        using var ending = CancellationTokenSource.CreateLinkedTokenSource(stopping);
        Task[] loops = [KeepAsync(RemapRefutedAsync, ending.Token), KeepAsync(OpenWantedAsync, ending.Token), KeepAsync(OpenRestAsync, ending.Token)];
        try
        {
            await await Task.WhenAny(loops);
        }
        finally
        {
            await ending.CancelAsync();
            await Task.WhenAll(loops).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        }
    });

    /// <summary>Restarts a loop after a failure, so that the other loops keep running.</summary>
    private async Task KeepAsync(Func<CancellationToken, Task> loop, CancellationToken stopping)
    {
        while (true)
        {
            try
            {
                await loop(stopping);
                return;
            }
            catch (Exception e) when (e is not (OperationCanceledException or DatabaseLostException))
            {
                QueueLog.MapsPaused(logger, e.Message, (int)Pause.TotalSeconds);
                await Task.Delay(Pause, time, stopping);
            }
        }
    }

    private async Task RemapRefutedAsync(CancellationToken stopping)
    {
        await foreach (var release in predictions.ReadRefutedAsync(stopping))
        {
            var isSettled = false;
            try
            {
                await RemapAsync(release, stopping);
                predictions.Settle(release);
                isSettled = true;
            }
            catch (Exception e) when (e is not OperationCanceledException)
            {
                // A provider or the disk is unavailable. The release is unreadable until a retry succeeds.
                QueueLog.NotRemapped(logger, release.Name, release.Id, e.Message);
                await Task.Delay(Pause, time, stopping);
            }
            finally
            {
                if (!isSettled)
                    predictions.Refute(release);
            }
        }
    }

    private Task OpenWantedAsync(CancellationToken stopping) => Parallel.ForEachAsync(
        openings.ReadWantedAsync(stopping),
        new ParallelOptions { MaxDegreeOfParallelism = MostWanted, CancellationToken = stopping },
        async (release, token) => await OpenAsync(release, token, token));

    private async Task OpenRestAsync(CancellationToken stopping)
    {
        var postponed = new HashSet<long>();
        var opened = 0;
        while (true)
        {
            if (IsPlaying())
            {
                await openings.Added.WaitAsync(PlayingInterval, stopping);
            }
            else if (await openings.FindNextAsync(postponed, stopping) is not { } release)
            {
                if (opened > 0)
                    QueueLog.OpenedAll(logger, opened);
                opened = 0;
                await openings.Added.WaitAsync(postponed.Count > 0 ? RetryAfter : null, stopping);
                postponed.Clear();
            }
            else if (!openings.TryClaim(release))
            {
                await Task.Delay(ClaimInterval, time, stopping);
            }
            else if (await OpenWhileIdleAsync(release, stopping) is not { } isOpened)
            {
                // Playback has started.
            }
            else if (isOpened)
            {
                opened++;
            }
            else
            {
                postponed.Add(release.Id);
                await Task.Delay(Pause, time, stopping);
            }
        }
    }

    private bool IsPlaying() => playbacks.List().Any(played => played.IsOpen);

    /// <summary>Opens a claimed release while nothing plays. Null if playback started, unless a reader waits for the release.</summary>
    private async Task<bool?> OpenWhileIdleAsync(Release release, CancellationToken stopping)
    {
        using var ending = CancellationTokenSource.CreateLinkedTokenSource(stopping);
        var opening = OpenAsync(release, ending.Token, stopping);
        while (await Task.WhenAny(opening, Task.Delay(ClaimInterval, time, ending.Token)) != opening && !ending.IsCancellationRequested)
        {
            if (IsPlaying() && !openings.IsWanted(release))
                await ending.CancelAsync();
        }

        return await opening;
    }

    /// <summary>Opens a claimed release and ends the claim.</summary>
    /// <returns>False if a provider or the disk was unavailable; null if the opening was canceled, except at shutdown.</returns>
    private async Task<bool?> OpenAsync(Release release, CancellationToken cancellationToken, CancellationToken stopping)
    {
        try
        {
            await OpenNowAsync(release, cancellationToken);
            openings.End(release, failure: null);
            return true;
        }
        catch (OperationCanceledException) when (!stopping.IsCancellationRequested)
        {
            openings.Return(release);
            return null;
        }
        catch (Exception e)
        {
            openings.End(release, e);
            if (e is OperationCanceledException or DatabaseLostException)
                throw;
            QueueLog.NotOpened(logger, release.Name, release.Id, e.Message);
            return false;
        }
    }

    private async Task OpenNowAsync(Release release, CancellationToken cancellationToken)
    {
        var files = await library.GetFilesAsync(release, cancellationToken);
        // If all files had been opened, an article refuted the map. Damage is then no reason to refuse, because the films were listed and have played.
        var (plan, failure) = await MapAsync(release, mayPredict: true, judgesDamage: files.Any(IsUnopened), cancellationToken);
        var contents = FileMatch.Find(files, plan?.Files ?? []);
        var posted = plan?.PostedFilesOf(contents.Values) ?? [];
        var doubted = await library.FindEstimatedAsync(release, cancellationToken);
        doubted.ExceptWith(posted.Select(file => file.Ordinal));
        if (plan is not null && files.FirstOrDefault(file => !contents.ContainsKey(file.Id) && (IsUnopened(file) || Uses(file, doubted))) is { } lost)
            failure = ImportFailure.BrokenArchive(FileMatch.Explain(lost, plan.Files));
        var isPlayable = contents.Count > 0 || files.Any(file => !IsUnopened(file));
        var changed = await database.WriteAsync(
            connection =>
            {
                if (!LibraryStore.ReplaceContents(connection, release, posted, contents))
                    return null;
                openings.Settle(connection, release, failure?.Sentence);
                return HistoryStore.SetFailure(connection, release.Id, isPlayable ? null : failure);
            },
            cancellationToken);
        if (changed is null)
            return;
        foreach (var item in changed)
            rclone.ReleaseChanged(item.Folder, item.ReleaseFolder);
        if (failure is null)
            QueueLog.Opened(logger, release.Name, release.Id, contents.Count);
        else
            QueueLog.NotOpened(logger, release.Name, release.Id, failure.Sentence);
    }

    private static bool IsUnopened(LibraryFile file) => ContentMap.Unpack(file.Content).IsUnopened;

    private static bool Uses(LibraryFile file, HashSet<int> posted) => ContentMap.Unpack(file.Content).Extents.Any(extent => posted.Contains(extent.PostedFile));

    private async Task RemapAsync(Release release, CancellationToken cancellationToken)
    {
        var (plan, failure) = await MapAsync(release, mayPredict: false, judgesDamage: false, cancellationToken);
        if (plan is null)
        {
            QueueLog.NotRemapped(logger, release.Name, release.Id, failure!.Sentence);
            return;
        }

        var contents = FileMatch.Find(await library.GetFilesAsync(release, cancellationToken), plan.Files);
        await library.ReplaceContentsAsync(release, plan.PostedFilesOf(contents.Values), contents, cancellationToken);
        QueueLog.Remapped(logger, release.Name, release.Id, contents.Count);
    }

    /// <summary>Runs the steps up to the map. Returns the plan, or why the import must be refused.</summary>
    private async Task<(ReleasePlan? Plan, ImportFailure? Failure)> MapAsync(Release release, bool mayPredict, bool judgesDamage, CancellationToken cancellationToken)
    {
        var imported = await history.FindPasswordAsync(release.Id, cancellationToken);
        var item = new QueueItem
        {
            Id = "",
            Name = release.Name,
            NzbName = release.Name,
            Category = release.Category,
            Folder = release.Category,
            NzbHash = release.NzbHash,
            Password = imported is not null
                ? passwords.Require(imported.Id, imported.Password)
                : passwords.Require(release.NzbHash, await openings.FindPasswordAsync(release, cancellationToken)),
            // The sample decides whether an import would refuse the release. A release that has played is always mapped.
            Retried = judgesDamage ? RetryKind.Yes : RetryKind.Yes | RetryKind.IgnoresDamage,
        };
        await using var work = new ImportWork(item, time.WallTime(), time.GetTimestamp()) { MayPredict = mayPredict, IsListed = true };
        IReadOnlyList<IImportStep> wanted = [.. steps.Where(step => step is not Publish && (judgesDamage || step is not CheckAvailability))];
        try
        {
            var failure = await RunAsync(work, wanted, cancellationToken);
            if (failure is { Reason: FailureReason.CorruptArticles })
            {
                // The connection may have damaged the articles, so fetch them again later over other connections.
                await Task.Delay(AskAgainAfter, time, cancellationToken);
                foreach (var connection in work.Suspects)
                    providers.Distrust(connection);
                failure = await RunAsync(work, wanted, cancellationToken);
            }

            return failure is null ? (ReleasePlan.Of(work.Map, work.Heads, work.Sort.Targets, work.Names.Known), null) : (null, failure);
        }
        catch (StoredNzbLostException e) when (!e.IsMissing)
        {
            return (null, ImportFailure.StoredNzbLost());
        }
    }

    private async Task<ImportFailure?> RunAsync(ImportWork work, IReadOnlyList<IImportStep> wanted, CancellationToken cancellationToken)
    {
        foreach (var step in wanted)
        {
            var limit = options.CurrentValue.StepTimeout;
            await using var deadline = new PacedDeadline(limit, time, () => sincePaced(OperationLane.Import));
            using var either = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken, deadline.Token);
            try
            {
                if (await step.RunAsync(work, new StepProgress(_ => deadline.Restart(limit)), either.Token) is { } failure)
                    return failure;
            }
            catch (OperationCanceledException late) when (!cancellationToken.IsCancellationRequested)
            {
                throw new NntpException(NntpFault.Stalled, $"Step {step.Name} made no progress.", late);
            }
        }

        return null;
    }
}
