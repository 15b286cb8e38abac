using Microsoft.Extensions.DependencyInjection;
using Sluice.Server.Database;
using Sluice.Server.Queue;
using Sluice.Server.Tests.Database;
using Sluice.Tools.MockNntpServer;
using Sluice.Tools.MockNntpServer.Articles;
using Xunit;

namespace Sluice.Server.Tests.Queue;

/// <summary>A temporary fault of the data folder fails no item (IMP-82).</summary>
public sealed class StorageFaultImportTests : IDisposable
{
    private readonly TemporaryFolder _folder = new();

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    /// <summary>Errors of reading a stored NZB.</summary>
    public static TheoryData<string> Faults => ["EIO", "EMFILE", "EACCES", "ENOSPC", "ESTALE"];

    public void Dispose() => _folder.Dispose();

    [Theory]
    [MemberData(nameof(Faults))]
    public async Task Item_with_an_unreadable_NZB_waits_and_publishes_later(string fault)
    {
        await using var mock = await MockServer.StartAsync();
        var files = new RecordingBlobFiles();
        await using var host = await ProductHost.StartAsync(_folder, mock, services => services.AddSingleton<IBlobFiles>(files));
        files.FailAt = ("read", Exception(fault));
        var film = new MockRelease("rel", 5, [new MockFile { Name = "film.mkv", Size = 50_000, ArticleSize = 20_000 }]);

        var id = (await host.AddAsync(film.ToNzb(), "One.nzb", Token, "&cat=tv"))[0];
        await host.WaitForWaitingAsync(id, Token);

        Assert.Equal(0, (await host.CallAsync("mode=history", Token)).GetProperty("history").GetProperty("noofslots").GetInt32());
        files.FailAt = null;
        host.Get<QueueSchedule>().RetryAll();
        Assert.Equal("Completed", (await host.WaitForHistoryAsync(id, Token)).GetProperty("status").GetString());
    }

    private static Exception Exception(string fault) => fault switch
    {
        "EIO" => new IOException("Input/output error", 5),
        "EMFILE" => new IOException("Too many open files", 24),
        "EACCES" => new UnauthorizedAccessException("Permission denied", new IOException("Permission denied", 13)),
        "ENOSPC" => new IOException("No space left on device", 28),
        _ => new IOException("Stale file handle", 116),
    };
}
