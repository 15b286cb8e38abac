using System.IO.Pipelines;
using Sluice.Server.WebDav;
using Sluice.Server.WebDav.Content;
using Sluice.Server.WebDav.Tree;
using Sluice.Testing.WebDav;
using Xunit;

namespace Sluice.Server.Tests.WebDav;

/// <summary>Translation of the library's failures at the store seam.</summary>
public sealed class ExplainedBodyTests
{
    private const int Length = 64 * 1024;
    private static readonly TimeSpan Limit = TimeSpan.FromSeconds(15);

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task Known_failure_is_translated_for_sync_and_async_throws(bool throwsAtOnce)
    {
        var fail = ScriptedStream.Throw(new TimeoutException("Below."));

        var failure = await Assert.ThrowsAsync<ContentUnavailableException>(
            () => OpenAsync(throwsAtOnce ? new ThrowingStream() : new ScriptedStream(fail)));

        Assert.Equal(ContentFault.Gone, failure.Fault);
        Assert.IsType<TimeoutException>(failure.InnerException);
    }

    [Fact]
    public async Task Unknown_failure_passes_through_unchanged()
    {
        var unknown = new ObjectDisposedException("Below.");

        Assert.Same(unknown, await Record.ExceptionAsync(() => OpenAsync(new ScriptedStream(ScriptedStream.Throw(unknown)))));
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task Failure_after_the_first_bytes_is_translated(bool isKnown)
    {
        Exception below = isKnown ? new TimeoutException("Below.") : new ObjectDisposedException("Below.");
        await using var body = await OpenAsync(new ScriptedStream(ScriptedStream.Give(new byte[100]), ScriptedStream.Throw(below)));
        var client = new ClientProgress(null, Timeout.InfiniteTimeSpan, TimeProvider.System, Token);

        var failure = await Record.ExceptionAsync(() => body.CopyToAsync(PipeWriter.Create(Stream.Null), direct: null, client, Limit));

        Assert.Same(below, isKnown ? Assert.IsType<ContentUnavailableException>(failure).InnerException : failure);
    }

    /// <summary>A link changes the name of a file, but its failures mean the same.</summary>
    [Fact]
    public void Response_to_a_view_link_explains_failures_too() =>
        Assert.NotNull(((IStoreFile)new ViewedFile(FileOf(Stream.Null), "mkv", isDownload: true)).Explain(new TimeoutException()));

    private static Task<FileBody> OpenAsync(Stream stream) =>
        FileBody.OpenAsync(FileOf(stream), ByteRange.Whole(Length), Limit, TimeProvider.System, static () => TimeSpan.MaxValue, Token);

    private static MemoryFile FileOf(Stream stream) =>
        new("a.mkv", []) { Length = Length, Opening = (_, _, _) => ValueTask.FromResult(stream), Explaining = Translate };

    private static ContentUnavailableException? Translate(Exception failure) =>
        failure is TimeoutException ? new ContentUnavailableException(ContentFault.Gone, "Because.", failure) : null;

    /// <summary>Throws synchronously, before it returns a task.</summary>
    private sealed class ThrowingStream : MemoryStream
    {
        public override ValueTask<int> ReadAsync(Memory<byte> buffer, CancellationToken cancellationToken = default) =>
            throw new TimeoutException("Below.");
    }
}
