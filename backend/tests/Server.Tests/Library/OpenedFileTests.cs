using Sluice.Server.Library;
using Sluice.Usenet.Primitives;
using Sluice.Usenet.Streams;
using Xunit;

namespace Sluice.Server.Tests.Library;

public sealed class OpenedFileTests
{
    [Fact]
    public async Task Ids_are_returned_even_if_the_stream_fails_to_close()
    {
        var ids = new Ids();
        var file = new OpenedFile(new FailingStream(), ids);

        await Assert.ThrowsAsync<IOException>(async () => await file.DisposeAsync());

        Assert.True(ids.AreGivenBack);
    }

    private sealed class Ids : IDisposable
    {
        public bool AreGivenBack { get; private set; }

        public void Dispose() => AreGivenBack = true;
    }

    private sealed class FailingStream : ReadOnlyStream
    {
        public override long Length => 0;

        public override long Position { get; set; }

        public override ValueTask<int> ReadAsync(Memory<byte> buffer, CancellationToken cancellationToken = default) => new(0);

        public override ValueTask<int> LendAsync(BlockLoan loan, int most, CancellationToken cancellationToken) => new(0);

        protected override ValueTask CloseAsync() => ValueTask.FromException(new IOException("Closing failed."));
    }
}
