using System.Globalization;
using System.Threading.Channels;
using Sluice.Server.Auth;
using Sluice.Server.Database;
using Sluice.Server.Diagnostics;
using Sluice.Server.Library;
using Sluice.Server.Settings;
using Sluice.Usenet.Primitives;

namespace Sluice.Server.FamilyImport;

internal enum ImportStage
{
    /// <summary>There is nothing to import, or the server already has its own library.</summary>
    None,

    /// <summary>An old server was found. Its content is being counted, or will be counted on the first request.</summary>
    Looking,

    /// <summary>The content has been counted and is ready to import.</summary>
    Found,

    Running,

    Finished,

    /// <summary>The import failed and can be restarted.</summary>
    Failed,
}

/// <summary>The state of an import, as shown to the user.</summary>
/// <param name="Report">The counts so far.</param>
internal sealed record ImportView(ImportStage Stage, ImportReport Report)
{
    /// <summary>Path of the old database; null if there is none.</summary>
    public string? Source { get; init; }

    /// <summary>Storage format of the file descriptions in the old database; null until known.</summary>
    public FamilyShape? Shape { get; init; }

    /// <summary>Completed fraction, 0 to 1.</summary>
    public double Progress { get; init; }

    /// <summary>The error as a sentence; null if none.</summary>
    public string? Error { get; init; }

    public DateTimeOffset? StartedAt { get; init; }

    public DateTimeOffset? FinishedAt { get; init; }
}

/// <summary>
/// Imports the library of nzbdav or one of its forks in the background (CFG-40). Counts the content when the setup asks. Imports on request, or if an
/// environment variable is set. Resumes an unfinished import after a restart. Thread-safe. Runs one task at a time.
/// </summary>
internal sealed class FamilyImportWorker(
    DataFolder folder,
    ProcessOptions process,
    FamilyImporter importer,
    LibraryHealing healing,
    FamilyImportStore store,
    ReleaseOpenings openings,
    TimeProvider time,
    ILogger<FamilyImportWorker> logger)
    : IWorker, IFormerServer
{
    private readonly Channel<Request> _requests = Channel.CreateBounded<Request>(1);

    // Guards the three fields below. Not held across an await.
    private readonly Lock _gate = new();
    private ImportView _view = new(ImportStage.None, ImportReport.Nothing);
    private ImportTally? _tally;

    // True from when an old server is found until the first request.
    private bool _isOffered;

    // Opened if an import is requested at startup; null again once the import starts.
    private FamilySource? _opened;

    private enum Request
    {
        Count,
        Take,
        Heal,
    }

    public string Name => "the import of an old server";

    public async Task<IReadOnlyDictionary<string, string?>> ReadAsync(CancellationToken cancellationToken)
    {
        await LoadAsync(cancellationToken);
        if (_isOffered && process.Imports)
        {
            try
            {
                _opened = await FamilySource.OpenAsync(folder, cancellationToken);
                return importer.ReadSettings(_opened);
            }
            catch (Exception e) when (IsExpected(e))
            {
                Fail(e);
            }
        }
        else if (_isOffered)
            FamilyImportLog.Offered(logger, _view.Source!);
        else if (process.Imports && _view.Stage != ImportStage.Running)
            FamilyImportLog.Ignored(logger, _view.Stage == ImportStage.Finished ? "the import was done before" : "there is nothing to import");
        return new Dictionary<string, string?>();
    }

    public async Task SaveAsync(CancellationToken cancellationToken)
    {
        if (_opened is not { } source)
            return;
        try
        {
            var tally = new ImportTally();
            await importer.TakeSettingsAsync(source, tally, writes: true, cancellationToken);
            await store.BeginAsync(time.WallTime(), tally.Report(), cancellationToken);
        }
        catch (Exception e) when (IsExpected(e) && e is not (StorageException or DatabaseLostException))
        {
            Fail(e);
            return;
        }

        TryBegin();
    }

    /// <summary>Returns the state. The first call after an old server was found starts the count.</summary>
    public ImportView Snapshot()
    {
        lock (_gate)
        {
            if (_isOffered && _requests.Writer.TryWrite(Request.Count))
                _isOffered = false;
            return _tally is { } tally ? _view with { Report = tally.Report() } : _view;
        }
    }

    /// <summary>Returns the state. The report also lists files refused when they were first opened after the import.</summary>
    public async Task<ImportView> ShowAsync(CancellationToken cancellationToken)
    {
        var view = Snapshot();
        if (view.Stage != ImportStage.Finished)
            return view;
        var refused = await openings.ListRefusedAsync(cancellationToken);
        return view with { Report = view.Report.With([.. refused.Select(file => new LeftThing(ImportKind.Files, file.Path, file.Refusal))]) };
    }

    /// <summary>Starts the import; false if there is nothing left to import.</summary>
    public bool TryBegin()
    {
        lock (_gate)
        {
            if (_view.Stage is ImportStage.Running)
                return true;
            if (!(_isOffered || _view.Stage is ImportStage.Found or ImportStage.Failed) || !_requests.Writer.TryWrite(Request.Take))
                return false;
            _isOffered = false;
            _view = _view with { Stage = ImportStage.Running, Progress = 0, Error = null, Report = _view.Report.Begin() };
            return true;
        }
    }

    public async Task RunAsync(CancellationToken stopping)
    {
        await foreach (var request in _requests.Reader.ReadAllAsync(stopping))
        {
            try
            {
                await (request switch
                {
                    Request.Count => CountAsync(stopping),
                    Request.Take => TakeAsync(stopping),
                    _ => HealAsync(stopping),
                });
            }
            catch (Exception e) when (request == Request.Heal && IsExpected(e))
            {
                FamilyImportLog.NotHealed(logger, e.Message);
            }
            catch (Exception e) when (IsExpected(e))
            {
                Fail(e);
            }
            catch (Exception e) when (request != Request.Heal && e is not OperationCanceledException)
            {
                Fail(e);
                throw;
            }
        }
    }

    public Task FinishAsync(CancellationToken cancellationToken)
    {
        Interlocked.Exchange(ref _opened, null)?.Dispose();
        return Task.CompletedTask;
    }

    private async Task LoadAsync(CancellationToken cancellationToken)
    {
        var begun = await store.FindAsync(cancellationToken);
        var source = FamilySource.Find(folder);
        if (begun is { FinishedAt: not null })
        {
            Set(new ImportView(ImportStage.Finished, begun.Report) { Source = source, Progress = 1, StartedAt = begun.StartedAt, FinishedAt = begun.FinishedAt }, null);
            if (!begun.IsHealed && source is not null)
                _requests.Writer.TryWrite(Request.Heal);
        }
        else if (source is null)
        {
            Set(new ImportView(ImportStage.None, ImportReport.Nothing), null);
            if (FamilySource.IsOnPostgres(folder) && await store.IsFreshAsync(cancellationToken))
                FamilyImportLog.OnPostgres(logger);
        }
        else if (begun is not null)
        {
            Set(new ImportView(ImportStage.Running, ImportReport.Nothing) { Source = source, StartedAt = begun.StartedAt }, null);
            _requests.Writer.TryWrite(Request.Take);
        }
        else if (await store.IsFreshAsync(cancellationToken))
        {
            lock (_gate)
                (_view, _isOffered) = (new ImportView(ImportStage.Looking, ImportReport.Nothing) { Source = source }, true);
        }
    }

    private async Task CountAsync(CancellationToken cancellationToken)
    {
        using var source = await FamilySource.OpenAsync(folder, cancellationToken);
        var tally = new ImportTally();
        Set(_view with { Shape = source.Store.FindShape(), Progress = 0 }, tally);
        await importer.TakeSettingsAsync(source, tally, writes: false, cancellationToken);
        await importer.TakeLibraryAsync(source, tally, writes: false, Advance, cancellationToken);
        tally.Complete();
        Set(_view with { Stage = ImportStage.Found, Progress = 1, Report = tally.Report() }, null);
    }

    private async Task TakeAsync(CancellationToken cancellationToken)
    {
        FamilyImportLog.Begun(logger, _view.Source!);
        using var source = Interlocked.Exchange(ref _opened, null) ?? await FamilySource.OpenAsync(folder, cancellationToken);
        var tally = new ImportTally();
        foreach (var count in _view.Report.Counts)
            tally.Expect(count.Kind, count.Found);
        var begun = await store.FindAsync(cancellationToken);
        var started = begun?.StartedAt ?? time.WallTime();
        Set(_view with { Shape = source.Store.FindShape(), StartedAt = started, Progress = 0 }, tally);
        // A resumed import must not save settings again, because the user may have changed them in the meantime.
        if (begun is not null)
        {
            tally.Add(begun.Report);
        }
        else
        {
            await importer.TakeSettingsAsync(source, tally, writes: true, cancellationToken);
            await store.BeginAsync(started, tally.Report(), cancellationToken);
        }

        await importer.TakeLibraryAsync(source, tally, writes: true, Advance, cancellationToken);
        // An earlier version started this import, so repair its result.
        if (begun is { IsHealed: false })
            await healing.HealAsync(source, cancellationToken);
        tally.Complete();
        var (report, finished) = (tally.Report(), time.WallTime());
        await store.FinishAsync(finished, report, CancellationToken.None);
        Set(_view with { Stage = ImportStage.Finished, Progress = 1, Report = report, FinishedAt = finished }, null);
        LogReport(report);
    }

    private async Task HealAsync(CancellationToken cancellationToken)
    {
        using var source = await FamilySource.OpenAsync(folder, cancellationToken);
        var listed = await healing.HealAsync(source, cancellationToken);
        if (await store.FindAsync(cancellationToken) is not { FinishedAt: { } finished } begun)
            return;
        var report = begun.Report.Without(listed);
        await store.FinishAsync(finished, report, CancellationToken.None);
        Set(_view with { Report = report }, null);
        FamilyImportLog.Healed(logger, listed.Count, await openings.CountWaitingAsync(cancellationToken));
    }

    private static bool IsExpected(Exception failure) =>
        failure is ForeignDatabaseException or FamilyFormatException or StorageException or DatabaseLostException or System.Data.Common.DbException;

    private void LogReport(ImportReport report)
    {
        FamilyImportLog.Done(logger, string.Join(", ", report.Counts.Select(count =>
            string.Create(CultureInfo.InvariantCulture, $"{count.Taken} of {count.Found} {count.Kind.ToString().ToLowerInvariant()}"))));
        foreach (var group in report.Left.GroupBy(left => (left.Kind, left.Reason)))
            FamilyImportLog.Left(logger, group.Count(), group.Key.Kind.ToString().ToLowerInvariant(), group.Key.Reason);
        if (report.Kept.Count > 0)
            FamilyImportLog.Kept(logger, string.Join(", ", report.Kept));
    }

    private void Advance(double progress)
    {
        lock (_gate)
            _view = _view with { Progress = progress };
    }

    private void Fail(Exception failure)
    {
        FamilyImportLog.Failed(logger, failure.Message.TrimEnd('.'));
        lock (_gate)
        {
            (_view, _tally) = (_view with { Stage = ImportStage.Failed, Error = failure.Message, Report = _tally?.Report() ?? _view.Report }, null);
            _isOffered = false;
        }
    }

    private void Set(ImportView view, ImportTally? tally)
    {
        lock (_gate)
            (_view, _tally) = (view, tally);
    }
}
