namespace Sluice.Server.Database;

/// <summary>
/// A folder of files that Sluice keeps. A name appears only when its content is on disk (IMP-2): write a temporary file, fsync it,
/// rename it, fsync the folder. A kill in between leaves only a temporary file. Every fault of a call, or of a stream that a call
/// has returned, is a <see cref="StorageException"/>, except for a missing file, whose exception passes unchanged.
/// </summary>
/// <remarks>Thread-safe.</remarks>
/// <param name="path">The folder; absolute. Faults of writes are about it: the names of its files say nothing to an operator.</param>
/// <param name="files">The file system.</param>
/// <param name="state">Is told of faults of writes and of saves that succeed; null where nothing asks.</param>
internal sealed class DurableFolder(string path, IBlobFiles files, StorageState? state = null)
{
    /// <summary>Ends the names of files that were not saved to their end.</summary>
    public const string TemporarySuffix = ".tmp";

    /// <summary>Saves a file. When the task completes it is on disk under its name, in place of one that had it.</summary>
    /// <param name="write">Writes the content and gives the name, which it may know only then.</param>
    /// <param name="cancellationToken">Gives up and removes what was written.</param>
    /// <returns>Bytes on disk.</returns>
    /// <exception cref="StorageException">It cannot be written.</exception>
    public async Task<long> SaveAsync(Func<Stream, Task<string>> write, CancellationToken cancellationToken)
    {
        var temporary = PathOf(Guid.NewGuid().ToString("N") + TemporarySuffix);
        try
        {
            string name;
            long length;
            await using (var file = Run(() => new GuardedStream(files.Create(temporary), this)))
            {
                Failpoint.Reach("file-created");
                name = await write(file);
                await file.FlushAsync(cancellationToken);
                Failpoint.Reach("file-written");
                length = file.Length;
                Run(() => files.SyncFile(file.Inner));
                Failpoint.Reach("file-synced");
            }

            Run(() => files.Rename(temporary, PathOf(name)));
            Failpoint.Reach("file-named");
            Run(() => files.SyncFolder(path));
            Failpoint.Reach("file-folder-synced");
            state?.NoteSuccess(path);
            return length;
        }
        catch
        {
            Discard(temporary);
            throw;
        }
    }

    /// <summary>The path of a name in the folder.</summary>
    public string PathOf(string name) => Path.Combine(path, name);

    /// <summary>Makes the folder where it is missing. When the call returns its own name is on disk too.</summary>
    public void Create()
    {
        if (Directory.Exists(path))
            return;
        Run(() => Directory.CreateDirectory(path));
        Run(() => files.SyncFolder(Path.GetDirectoryName(path)!));
    }

    /// <summary>Tries whether files can be written.</summary>
    public void Probe()
    {
        using (var file = CreateTemporary())
            file.WriteByte(1);
        state?.NoteSuccess(path);
    }

    /// <summary>Opens a file for reading; the caller disposes the stream.</summary>
    /// <exception cref="FileNotFoundException">There is none.</exception>
    public Stream OpenRead(string file) => Read(() => new GuardedStream(files.OpenRead(file), this, file), file);

    /// <summary>A new file for bytes on their way, whose name says that a start may remove it.</summary>
    /// <returns>A stream for reading and writing at any place, whose disposal removes the file.</returns>
    public Stream CreateTemporary() => Run(() => new GuardedStream(
        new FileStream(
            PathOf(Guid.NewGuid().ToString("N") + TemporarySuffix),
            new FileStreamOptions
            {
                Mode = FileMode.CreateNew,
                Access = FileAccess.ReadWrite,
                Options = FileOptions.Asynchronous | FileOptions.DeleteOnClose,
            }),
        this));

    /// <summary>Removes a file; nothing happens where there is none.</summary>
    public void Delete(string file) => Run(() => files.Delete(file));

    /// <summary>Removes what a save that failed has left, under the name of a file that none but the save has. The fault of the save is the one to tell.</summary>
    public void Discard(string file)
    {
        try
        {
            files.Delete(file);
        }
        catch (Exception e) when (StorageException.From(e, path) is not null)
        {
            // The next start removes a temporary file.
        }
    }

    /// <summary>The files of the folder.</summary>
    public IReadOnlyList<FileInfo> List() => Read(() => files.List(path).ToList(), path);

    /// <summary>Refuses where fewer bytes are free.</summary>
    public void RequireFree(long bytes)
    {
        if (Run(() => files.FreeBytes(path)) < bytes)
        {
            var fault = StorageException.Full(path);
            state?.Note(fault);
            throw fault;
        }
    }

    /// <summary>Runs a call that reads one file of the folder; a fault is about that file and belongs to the caller alone.</summary>
    public static T Read<T>(Func<T> call, string file)
    {
        try
        {
            return call();
        }
        catch (Exception e) when (StorageException.From(e, file) is { } fault)
        {
            throw fault;
        }
    }

    /// <summary>Runs any other call that changes the folder.</summary>
    public void Run(Action call) => Run(() =>
    {
        call();
        return true;
    });

    private T Run<T>(Func<T> call)
    {
        try
        {
            return call();
        }
        catch (Exception e) when (Find(e, null) is { } fault)
        {
            throw fault;
        }
    }

    /// <param name="failure">The exception of a call.</param>
    /// <param name="file">The file that is read; null for a write.</param>
    private StorageException? Find(Exception failure, string? file)
    {
        var fault = StorageException.From(failure, file ?? path);
        if (fault is not null && file is null)
            state?.Note(fault);
        return fault;
    }

    private sealed class GuardedStream(Stream inner, DurableFolder owner, string? file = null) : Stream
    {
        public Stream Inner => inner;

        public override bool CanRead => inner.CanRead;

        public override bool CanSeek => inner.CanSeek;

        public override bool CanWrite => inner.CanWrite;

        public override long Length => Run(() => inner.Length);

        public override long Position
        {
            get => Run(() => inner.Position);
            set => Run(() => inner.Position = value);
        }

        public override int Read(byte[] buffer, int offset, int count) => Run(() => inner.Read(buffer, offset, count));

        public override Task<int> ReadAsync(byte[] buffer, int offset, int count, CancellationToken cancellationToken) =>
            ReadAsync(buffer.AsMemory(offset, count), cancellationToken).AsTask();

        public override async ValueTask<int> ReadAsync(Memory<byte> buffer, CancellationToken cancellationToken = default)
        {
            try
            {
                return await inner.ReadAsync(buffer, cancellationToken);
            }
            catch (Exception e) when (owner.Find(e, file) is { } fault)
            {
                throw fault;
            }
        }

        public override void Write(byte[] buffer, int offset, int count) => Run(() => inner.Write(buffer, offset, count));

        public override Task WriteAsync(byte[] buffer, int offset, int count, CancellationToken cancellationToken) =>
            WriteAsync(buffer.AsMemory(offset, count), cancellationToken).AsTask();

        public override async ValueTask WriteAsync(ReadOnlyMemory<byte> buffer, CancellationToken cancellationToken = default)
        {
            try
            {
                await inner.WriteAsync(buffer, cancellationToken);
            }
            catch (Exception e) when (owner.Find(e, file) is { } fault)
            {
                throw fault;
            }
        }

        public override void Flush() => Run(inner.Flush);

        public override async Task FlushAsync(CancellationToken cancellationToken)
        {
            try
            {
                await inner.FlushAsync(cancellationToken);
            }
            catch (Exception e) when (owner.Find(e, file) is { } fault)
            {
                throw fault;
            }
        }

        public override long Seek(long offset, SeekOrigin origin) => Run(() => inner.Seek(offset, origin));

        public override void SetLength(long value) => Run(() => inner.SetLength(value));

        public override async ValueTask DisposeAsync()
        {
            try
            {
                // Disposal writes the rest of the buffer and may fail like a write.
                await inner.DisposeAsync();
            }
            catch (Exception e) when (owner.Find(e, file) is { } fault)
            {
                throw fault;
            }
            finally
            {
                await base.DisposeAsync();
            }
        }

        protected override void Dispose(bool disposing)
        {
            if (disposing)
                Run(inner.Dispose);
            base.Dispose(disposing);
        }

        private T Run<T>(Func<T> call)
        {
            try
            {
                return call();
            }
            catch (Exception e) when (owner.Find(e, file) is { } fault)
            {
                throw fault;
            }
        }

        private void Run(Action call) => Run(() =>
        {
            call();
            return true;
        });
    }
}
