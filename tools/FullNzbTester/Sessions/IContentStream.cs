namespace Sluice.Tools.FullNzbTester.Sessions;

/// <summary>An open file. Not thread-safe.</summary>
internal interface IContentStream : IAsyncDisposable
{
    /// <returns>Bytes read; 0 at the end of the opened range.</returns>
    /// <exception cref="IOException">The bytes are not available.</exception>
    ValueTask<int> ReadAsync(Memory<byte> buffer, CancellationToken cancellationToken);

    void Seek(long position);
}
