using Sluice.Server.Database;
using Sluice.Server.Diagnostics;
using Sluice.Server.Settings;
using Sluice.Usenet.Primitives;

namespace Sluice.Server.Queue.Intake;

/// <summary>Outcome of staging an upload.</summary>
internal enum StagingOutcome
{
    /// <summary>It is on disk under a name that was free.</summary>
    Created,

    /// <summary>It is on disk in place of one that had its name.</summary>
    Replaced,

    /// <summary>Another one has its name, and may not be replaced.</summary>
    Taken,

    /// <summary>As much is staged as may be, or the disk is full.</summary>
    NoRoom,

    /// <summary>The body did not end in time.</summary>
    TooSlow,
}

/// <summary>
/// Files that clients write under a passing name and give the name of an NZB once they are whole (DAV-40b). Each is kept on disk
/// for an hour, over a restart too. When they are as many or as large as allowed the next one is refused: no accepted file is dropped for it.
/// </summary>
/// <remarks>Thread-safe.</remarks>
internal sealed class StagedUploads(
    StagingFolder disk, BlobStore blobs, ProcessOptions process, TimeProvider time, ILogger<StagedUploads> logger) : IWorker, IDisposable
{
    /// <summary>Uploads at a time.</summary>
    public const int MaxUploads = 100;

    /// <summary>Bytes at a time, as a multiple of the longest upload.</summary>
    public const int MaxLongest = 4;

    private static readonly TimeSpan Life = TimeSpan.FromHours(1);

    // Guards the fields below; no file is touched under it. An upload leaves the index before its bytes leave the disk.
    private readonly Lock _gate = new();
    private readonly Dictionary<(string Folder, string Name), (StagedUpload Upload, ITimer Timer)> _kept = [];
    private int _arriving;
    private long _arrivingBytes;

    /// <summary>Reads a body to its end and keeps it.</summary>
    /// <param name="folder">Folder below <c>/nzbs</c>.</param>
    /// <param name="name">The passing name.</param>
    /// <param name="body">Forward only, no longer than an upload may be; stays open.</param>
    /// <param name="length">Its length in bytes, or null when it is not known.</param>
    /// <param name="mayReplace">Whether it takes the place of one of its name.</param>
    /// <param name="cancellationToken">Gives up; nothing is left behind.</param>
    public async Task<StagingOutcome> AddAsync(
        string folder, string name, Stream body, long? length, bool mayReplace, CancellationToken cancellationToken)
    {
        var expected = length ?? process.MaxRequestBodySize;
        if (!TryReserve(expected))
            return StagingOutcome.NoRoom;

        using var deadline = new CancellationTokenSource(UploadReceiver.MaxTime, time);
        using var cancel = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken, deadline.Token);
        try
        {
            blobs.RequireSpace(length ?? 0);
            return Keep(await disk.SaveAsync(folder, name, body, cancel.Token), mayReplace, Life);
        }
        catch (StorageException e) when (e.Fault == StorageFault.Full)
        {
            return StagingOutcome.NoRoom;
        }
        catch (OperationCanceledException) when (deadline.IsCancellationRequested && !cancellationToken.IsCancellationRequested)
        {
            return StagingOutcome.TooSlow;
        }
        finally
        {
            lock (_gate)
            {
                _arriving--;
                _arrivingBytes -= expected;
            }
        }
    }

    /// <inheritdoc/>
    string IWorker.Name => "staged uploads";

    /// <summary>The upload of a name, or null.</summary>
    public StagedUpload? Find(string folder, string name)
    {
        lock (_gate)
            return _kept.TryGetValue((folder, name), out var kept) ? kept.Upload : null;
    }

    /// <summary>All uploads.</summary>
    public IReadOnlyList<StagedUpload> List()
    {
        lock (_gate)
            return [.. _kept.Values.Select(kept => kept.Upload)];
    }

    /// <summary>The bytes of an upload from one of them on, or null when it is no longer there. The caller disposes the stream.</summary>
    public Stream? Open(StagedUpload upload, long offset) => disk.Open(upload, offset);

    /// <summary>Removes an upload. False when it is no longer there, or another one has come under its name.</summary>
    public bool Remove(StagedUpload upload)
    {
        lock (_gate)
        {
            if (!_kept.TryGetValue((upload.Folder, upload.Name), out var kept) || kept.Upload != upload)
                return false;
            _kept.Remove((upload.Folder, upload.Name));
            kept.Timer.Dispose();
        }

        Failpoint.Reach("staged-leaves");
        Delete(upload);
        return true;
    }

    /// <inheritdoc/>
    public Task PrepareAsync(CancellationToken cancellationToken)
    {
        try
        {
            foreach (var upload in disk.Recover())
            {
                var rest = upload.Since + Life - time.WallTime();
                if (rest > TimeSpan.Zero)
                    Keep(upload, mayReplace: true, rest < Life ? rest : Life);
                else
                    Delete(upload);
            }
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            QueueLog.StagingUnreadable(logger, e);
        }

        return Task.CompletedTask;
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        lock (_gate)
        {
            foreach (var kept in _kept.Values)
                kept.Timer.Dispose();
            _kept.Clear();
        }
    }

    private bool TryReserve(long bytes)
    {
        lock (_gate)
        {
            var used = _kept.Values.Sum(kept => kept.Upload.Length) + _arrivingBytes;
            if (_kept.Count + _arriving >= MaxUploads || used + bytes > MaxLongest * process.MaxRequestBodySize)
                return false;
            _arriving++;
            _arrivingBytes += bytes;
            return true;
        }
    }

    private StagingOutcome Keep(StagedUpload upload, bool mayReplace, TimeSpan life)
    {
        StagingOutcome outcome;
        StagedUpload? unneeded = null;
        lock (_gate)
        {
            var place = (upload.Folder, upload.Name);
            if (!_kept.TryGetValue(place, out var before))
            {
                outcome = StagingOutcome.Created;
            }
            else if (mayReplace)
            {
                outcome = StagingOutcome.Replaced;
                before.Timer.Dispose();
                unneeded = before.Upload;
            }
            else
            {
                outcome = StagingOutcome.Taken;
                unneeded = upload;
            }

            if (unneeded != upload)
                _kept[place] = (upload, time.CreateTimer(_ => Expire(upload), null, life, Timeout.InfiniteTimeSpan));
        }

        if (unneeded is not null)
            Delete(unneeded);
        return outcome;
    }

    private void Expire(StagedUpload upload)
    {
        if (Remove(upload))
            QueueLog.StagedUploadExpired(logger, upload.Id, (long)Life.TotalMinutes);
    }

    /// <summary>A file that cannot be removed stays until the next start, which finds it too old.</summary>
    private void Delete(StagedUpload upload)
    {
        try
        {
            disk.Delete(upload);
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            QueueLog.StagedUploadNotRemoved(logger, e, upload.Id);
        }
    }
}
