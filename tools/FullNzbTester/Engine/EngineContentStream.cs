using Sluice.Tools.FullNzbTester.Sessions;
using Sluice.Usenet.Streams;

namespace Sluice.Tools.FullNzbTester.Engine;

/// <summary>A stream of the engine.</summary>
internal sealed class EngineContentStream(ReadOnlyStream stream) : IContentStream
{
    public ValueTask<int> ReadAsync(Memory<byte> buffer, CancellationToken cancellationToken) => stream.ReadAsync(buffer, cancellationToken);

    public void Seek(long position) => stream.Position = position;

    public ValueTask DisposeAsync() => stream.DisposeAsync();
}
