using Sluice.Server.WebDav;
using Sluice.Server.WebDav.Tree;
using Sluice.Testing.WebDav;
using Xunit;

namespace Sluice.Server.Tests.WebDav.Tree;

/// <summary>How failures of the library cross the store seam.</summary>
public sealed class ContentStreamTests
{
    private static CancellationToken Token => TestContext.Current.CancellationToken;

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task Known_failure_is_translated_for_sync_and_async_throws(bool throwsAtOnce)
    {
        var fail = ScriptedStream.Throw(new TimeoutException("Below."));
        await using var stream = new ContentStream(throwsAtOnce ? new ThrowingStream() : new ScriptedStream(fail), Translate);

        var failure = await Assert.ThrowsAsync<ContentUnavailableException>(
            async () => await stream.ReadExactlyAsync(new byte[10], Token));

        Assert.Equal(ContentFault.Gone, failure.Fault);
        Assert.IsType<TimeoutException>(failure.InnerException);
    }

    [Fact]
    public async Task Unknown_failure_passes_through_unchanged()
    {
        var unknown = new ObjectDisposedException("Below.");
        await using var stream = new ContentStream(new ScriptedStream(ScriptedStream.Throw(unknown)), Translate);

        Assert.Same(unknown, await Record.ExceptionAsync(async () => await stream.ReadExactlyAsync(new byte[10], Token)));
    }

    private static ContentUnavailableException? Translate(Exception failure) =>
        failure is TimeoutException ? new ContentUnavailableException(ContentFault.Gone, "Because.", failure) : null;

    /// <summary>Throws before there is anything to wait for.</summary>
    private sealed class ThrowingStream : MemoryStream
    {
        public override ValueTask<int> ReadAsync(Memory<byte> buffer, CancellationToken cancellationToken = default) =>
            throw new TimeoutException("Below.");
    }
}
