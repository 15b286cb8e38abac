namespace Sluice.Tools.FullNzbTester.Sessions;

/// <summary>One file being read. Used by one reader at a time.</summary>
internal interface IContentStream : IAsyncDisposable
{
    /// <summary>Reads on.</summary>
    /// <returns>Bytes read; 0 at the end of the opened part.</returns>
    /// <exception cref="IOException">The bytes cannot be had.</exception>
    ValueTask<int> ReadAsync(Memory<byte> buffer, CancellationToken cancellationToken);

    /// <summary>Goes on reading elsewhere.</summary>
    void Seek(long position);
}
