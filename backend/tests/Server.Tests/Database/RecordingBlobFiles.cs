using Sluice.Server.Database;

namespace Sluice.Server.Tests.Database;

/// <summary>The real file system, with a record of its calls in order and failures on demand.</summary>
internal sealed class RecordingBlobFiles : IBlobFiles
{
    private readonly DiskBlobFiles _disk = new();

    public List<string> Calls { get; } = [];

    /// <summary>The first call whose record begins with this text fails.</summary>
    public (string Call, Exception Failure)? FailAt { get; set; }

    public long? Free { get; set; }

    public Stream Create(string path)
    {
        Record($"create {Short(path)}");
        return new RecordingStream((FileStream)_disk.Create(path), () => Record("write tmp"));
    }

    public void SyncFile(Stream file)
    {
        Record("fsync tmp");
        _disk.SyncFile(((RecordingStream)file).Inner);
    }

    public void SyncFiles(string folder, IReadOnlyCollection<string> files)
    {
        Record($"sync {files.Count}");
        _disk.SyncFiles(folder, files);
    }

    public void Rename(string from, string to)
    {
        Record($"rename {Short(from)} {Short(to)}");
        _disk.Rename(from, to);
    }

    public void SyncFolder(string path)
    {
        Record($"fsync {Path.GetFileName(path)}");
        _disk.SyncFolder(path);
    }

    public FileStream OpenRead(string path) =>
        FailAt is ("read", var failure) ? throw failure : _disk.OpenRead(path);

    public void Delete(string path) => _disk.Delete(path);

    public IEnumerable<FileInfo> List(string folder) => _disk.List(folder);

    public long FreeBytes(string folder) => Free ?? _disk.FreeBytes(folder);

    private static string Short(string path) => path.EndsWith(".tmp", StringComparison.Ordinal) ? "tmp" : Path.GetFileName(path);

    private void Record(string call)
    {
        if (FailAt is var (at, failure) && call.StartsWith(at, StringComparison.Ordinal))
            throw failure;

        // Repeated writes count as one, because the tests only check that none follows the fsync.
        if (call != "write tmp" || Calls[^1] != call)
            Calls.Add(call);
    }

    private sealed class RecordingStream(FileStream inner, Action onWrite) : Stream
    {
        public FileStream Inner => inner;

        public override bool CanRead => false;

        public override bool CanSeek => false;

        public override bool CanWrite => true;

        public override long Length => inner.Length;

        public override long Position { get => inner.Position; set => throw new NotSupportedException(); }

        public override void Flush() => inner.Flush();

        public override int Read(byte[] buffer, int offset, int count) => throw new NotSupportedException();

        public override long Seek(long offset, SeekOrigin origin) => throw new NotSupportedException();

        public override void SetLength(long value) => throw new NotSupportedException();

        public override void Write(byte[] buffer, int offset, int count)
        {
            onWrite();
            inner.Write(buffer, offset, count);
        }

        protected override void Dispose(bool disposing)
        {
            if (disposing)
                inner.Dispose();
            base.Dispose(disposing);
        }
    }
}
