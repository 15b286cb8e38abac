using System.Collections.Concurrent;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Http;
using Sluice.Server.Tests.Queue;
using Sluice.Server.Tests.WebDav.Tree;
using Xunit;

namespace Sluice.Server.Tests.EndToEnd;

/// <summary>A real rclone with its own retries copies NZBs into the queue and finds each of them again.</summary>
[Trait("Category", EndToEndRun.Name)]
public sealed class RcloneUploadTests
{
    private static readonly TimeSpan Limit = TimeSpan.FromSeconds(90);

    [Fact]
    public async Task Rclone_uploads_each_queued_NZB_name_only_once()
    {
        ExternalProgram.Require("rclone");
        using var limit = CancellationTokenSource.CreateLinkedTokenSource(TestContext.Current.CancellationToken);
        limit.CancelAfter(Limit);
        var cancel = limit.Token;
        var puts = new ConcurrentQueue<string>();
        await using var server = await TreeServer.StartAsync(app => app.Use((http, next) => NoteAsync(http, next, puts)));
        using var folder = new ScratchFolder();
        var names = Write(folder.File("nzbs"));
        var remote = await RcloneRemote.ForAsync(
            folder.File("rclone.conf"), server.Address.ToString(), "admin", TreeServer.Password, cancel);

        foreach (var _ in new[] { "sends", "finds" })
        {
            var copied = await ExternalProgram.RunAsync("rclone", ["copy", folder.File("nzbs"), "sluice:nzbs/tv", "-v"], remote, cancel);
            Assert.True(copied.ExitCode == 0, copied.Errors);
        }

        Assert.Equal(names.Count, puts.Count);
        Assert.Equal(puts.Count, puts.Distinct().Count());
        var listed = (await ExternalProgram.RunAsync("rclone", ["lsf", "sluice:nzbs/tv"], remote, cancel)).Succeeded();
        Assert.Equal(names.Order(StringComparer.Ordinal), listed.Text.Split('\n', StringSplitOptions.RemoveEmptyEntries).Order(StringComparer.Ordinal));
        var checkedAgain = await ExternalProgram.RunAsync("rclone", ["check", "--download", folder.File("nzbs"), "sluice:nzbs/tv"], remote, cancel);
        Assert.True(checkedAgain.ExitCode == 0, checkedAgain.Errors);
    }

    private static Task NoteAsync(HttpContext http, RequestDelegate next, ConcurrentQueue<string> puts)
    {
        if (HttpMethods.IsPut(http.Request.Method))
            puts.Enqueue(http.Request.Path);
        return next(http);
    }

    /// <summary>Writes one file for each kind of name. The contents differ, except for two equal files.</summary>
    private static List<string> Write(string folder)
    {
        Directory.CreateDirectory(folder);
        var nzb = NzbText.Of("twin.mkv");
        var files = new Dictionary<string, byte[]>
        {
            ["plain.nzb"] = NzbText.Of("a.mkv"),
            ["packed.nzb.gz"] = NzbText.Gzip(NzbText.Of("a.mkv")),
            ["packed.nzb.bz2"] = NzbText.Bzip2(NzbText.Of("a.mkv")),
            ["packed.zip"] = NzbText.Zip(("d0/same.nzb", NzbText.Of("a.mkv")), ("d1/same.nzb", NzbText.Of("b.mkv"))),
            ["UPPER.NZB"] = NzbText.Of("a.mkv"),
            ["secret{{pw}}.nzb"] = NzbText.Of("a.mkv"),
            ["secret.nzb"] = NzbText.Of("a.mkv"),
            [new string('n', 251) + ".nzb"] = NzbText.Of("a.mkv"),
            [new string('n', 244) + ".nzb.gz"] = NzbText.Gzip(NzbText.Of("a.mkv")),
            ["a:b.nzb"] = NzbText.Of("a.mkv"),
            ["a?b.nzb"] = NzbText.Of("a.mkv"),
            [".leading.nzb"] = NzbText.Of("a.mkv"),
            ["trailing .nzb"] = NzbText.Of("a.mkv"),
            ["CON.nzb"] = NzbText.Of("a.mkv"),
            ["aux.nzb.gz"] = NzbText.Gzip(NzbText.Of("a.mkv")),
            ["twin.nzb"] = nzb,
            ["twin.nzb.gz"] = NzbText.Gzip(nzb),
        };
        foreach (var (name, content) in files)
            File.WriteAllBytes(Path.Combine(folder, name), content);
        return [.. files.Keys];
    }
}
