namespace Sluice.Usenet.Tests.Nzb;

/// <summary>Creates scratch files that are deleted when disposed, and counts how many were created and are still open.</summary>
internal sealed class ScratchFile
{
    public int Made { get; private set; }

    public int Open { get; private set; }

    /// <summary>Runs at each read.</summary>
    public Action? OnRead { get; init; }

    public Stream Make()
    {
        Made++;
        Open++;
        return new WatchedFile(this, Path.Combine(Path.GetTempPath(), Path.GetRandomFileName()));
    }

    private sealed class WatchedFile(ScratchFile owner, string path)
        : FileStream(path, FileMode.CreateNew, FileAccess.ReadWrite, FileShare.None, 4096, FileOptions.DeleteOnClose)
    {
        private bool _isOpen = true;

        public override int Read(Span<byte> buffer)
        {
            owner.OnRead?.Invoke();
            return base.Read(buffer);
        }

        public override int Read(byte[] buffer, int offset, int count)
        {
            owner.OnRead?.Invoke();
            return base.Read(buffer, offset, count);
        }

        protected override void Dispose(bool disposing)
        {
            if (_isOpen && disposing)
                owner.Open--;
            _isOpen = false;
            base.Dispose(disposing);
        }
    }
}
