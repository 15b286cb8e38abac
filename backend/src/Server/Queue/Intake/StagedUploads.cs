using Sluice.Server.Database;
using Sluice.Server.Diagnostics;
using Sluice.Server.Settings;
using Sluice.Usenet.Primitives;

namespace Sluice.Server.Queue.Intake;

internal enum StagingOutcome
{
    Created,
    Replaced,

    /// <summary>A file of this name exists, and the client did not allow replacing it.</summary>
    Taken,

    /// <summary>The limit of staged uploads is reached, or the disk is full.</summary>
    NoRoom,

    TooSlow,
}

/// <summary>
/// Files that clients upload under a temporary name and rename to <c>.nzb</c> once complete (DAV-40b). They stay on disk for an hour, even across restarts.
/// Beyond the limits, new files are refused, because accepted files must not be dropped. Thread-safe.
/// </summary>
internal sealed class StagedUploads(
    StagingFolder disk, BlobStore blobs, ProcessOptions process, TimeProvider time, ILogger<StagedUploads> logger) : IWorker, IDisposable
{
    public const int MaxUploads = 100;

    /// <summary>Total size limit, as a multiple of the largest upload.</summary>
    public const int MaxSizeFactor = 4;

    private static readonly TimeSpan Lifetime = TimeSpan.FromHours(1);

    // Guards the fields below; never held during file access. An upload leaves the index before its file is deleted.
    private readonly Lock _gate = new();
    private readonly Dictionary<(string Folder, string Name), (StagedUpload Upload, ITimer Timer)> _kept = [];
    private int _arriving;
    private long _arrivingBytes;

    /// <summary>Reads a body to its end and stores it.</summary>
    /// <param name="body">The upload, within the size limit. It need not be seekable and stays open.</param>
    /// <param name="length">Length in bytes; null if unknown.</param>
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
            return Keep(await disk.SaveAsync(folder, name, body, cancel.Token), mayReplace, Lifetime);
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

    string IWorker.Name => "staged uploads";

    public StagedUpload? Find(string folder, string name)
    {
        lock (_gate)
            return _kept.TryGetValue((folder, name), out var kept) ? kept.Upload : null;
    }

    public IReadOnlyList<StagedUpload> List()
    {
        lock (_gate)
            return [.. _kept.Values.Select(kept => kept.Upload)];
    }

    /// <summary>Opens the content at an offset; null if the upload no longer exists. The caller disposes the stream.</summary>
    public Stream? Open(StagedUpload upload, long offset) => disk.Open(upload, offset);

    /// <summary>Removes an upload. Returns false if it no longer exists or was replaced.</summary>
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

    public Task PrepareAsync(CancellationToken cancellationToken)
    {
        try
        {
            foreach (var upload in disk.Recover())
            {
                var rest = upload.Since + Lifetime - time.WallTime();
                if (rest > TimeSpan.Zero)
                    Keep(upload, mayReplace: true, rest < Lifetime ? rest : Lifetime);
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
            if (_kept.Count + _arriving >= MaxUploads || used + bytes > MaxSizeFactor * process.MaxRequestBodySize)
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
            QueueLog.StagedUploadExpired(logger, upload.Id, (long)Lifetime.TotalMinutes);
    }

    /// <summary>Deletes the file. If that fails, the next startup finds the file expired and deletes it.</summary>
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
