namespace Sluice.Server.Database;

/// <summary>
/// A folder of durable files. A file gets its name only after its content is on disk (IMP-2): write a temporary file, fsync, rename, fsync the folder. A kill
/// in between leaves only the temporary file. Every I/O error, even one from a returned stream, becomes a <see cref="StorageException"/>, except <see
/// cref="FileNotFoundException"/>.
/// </summary>
/// <remarks>Thread-safe. Write errors name the folder, because its file names mean nothing to an operator.</remarks>
internal sealed class DurableFolder(string path, IBlobFiles files, StorageState? state = null)
{
    /// <summary>Suffix of files whose save has not completed.</summary>
    public const string TemporarySuffix = ".tmp";

    /// <summary>Saves a file durably, replacing any file of that name. Returns the bytes on disk.</summary>
    /// <param name="write">Writes the content and returns the file name, which may depend on the content.</param>
    /// <param name="cancellationToken">Deletes the temporary file.</param>
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

    public string PathOf(string name) => Path.Combine(path, name);

    /// <summary>Creates the folder durably if it is missing.</summary>
    public void Create()
    {
        if (Directory.Exists(path))
            return;
        Run(() => Directory.CreateDirectory(path));
        Run(() => files.SyncFolder(Path.GetDirectoryName(path)!));
    }

    public void Probe()
    {
        using (var file = CreateTemporary())
            file.WriteByte(1);
        state?.NoteSuccess(path);
    }

    public Stream OpenRead(string file) => Read(() => new GuardedStream(files.OpenRead(file), this, file), file);

    /// <summary>Creates a seekable temporary file that is deleted when the stream is disposed, or at the next startup.</summary>
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

    public void Delete(string file) => Run(() => files.Delete(file));

    /// <summary>Deletes the file of a failed save. Ignores errors, because the caller reports why the save failed.</summary>
    public void Discard(string file)
    {
        try
        {
            files.Delete(file);
        }
        catch (Exception e) when (StorageException.From(e, path) is not null)
        {
            // Temporary files are deleted at the next startup.
        }
    }

    public IReadOnlyList<FileInfo> List() => Read(() => files.List(path).ToList(), path);

    /// <summary>Throws <see cref="StorageException"/> if less free space is left.</summary>
    public void RequireFree(long bytes)
    {
        if (Run(() => files.FreeBytes(path)) < bytes)
        {
            var fault = StorageException.Full(path);
            state?.Note(fault);
            throw fault;
        }
    }

    /// <summary>Runs a call that reads one file. An error names this file and does not mark the folder as faulty.</summary>
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
                // Disposal flushes the buffer, so it may fail like any other write.
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
