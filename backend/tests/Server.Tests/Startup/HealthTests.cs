using System.Net;
using Microsoft.Extensions.DependencyInjection;
using Sluice.Server.Database;
using Sluice.Server.Tests.Database;
using Xunit;

namespace Sluice.Server.Tests.Startup;

public sealed class HealthTests : IDisposable
{
    private readonly TemporaryFolder _temporary = new();

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public void Dispose() => _temporary.Dispose();

    [Theory]
    [InlineData("healthz", """{"status":"ok","mode":"setup"}""")]
    [InlineData("readyz", """{"status":"ok"}""")]
    public async Task Health_endpoints_answer_without_credentials(string path, string expected)
    {
        await using var server = await RunningServer.StartAsync(_temporary);

        using var response = await server.Client.GetAsync(path, Token);

        Assert.Equal(HttpStatusCode.OK, response.StatusCode);
        Assert.Equal("application/json", response.Content.Headers.ContentType!.ToString());
        Assert.Equal(expected, await response.Content.ReadAsStringAsync(Token));
    }

    [Fact]
    public async Task Startup_quarantines_only_old_temporary_files()
    {
        await (await RunningServer.StartAsync(_temporary)).DisposeAsync();
        var (old, young) = (Path.Combine(_temporary.Folder.Blobs, "old.tmp"), Path.Combine(_temporary.Folder.Blobs, "young.tmp"));
        await File.WriteAllTextAsync(old, "x", Token);
        await File.WriteAllTextAsync(young, "x", Token);
        File.SetLastWriteTimeUtc(old, TimeProvider.System.GetUtcNow().UtcDateTime.AddMinutes(-61));
        // The time of the file differs from its last close, so the start checks the database before it moves any file.
        File.SetLastWriteTimeUtc(_temporary.Folder.Database, TimeProvider.System.GetUtcNow().UtcDateTime.AddMinutes(-1));

        await using var server = await RunningServer.StartAsync(_temporary);
        while (File.Exists(old))
            await Task.Delay(TimeSpan.FromMilliseconds(20), TimeProvider.System, Token);

        Assert.True(File.Exists(young));
        Assert.Single(Directory.GetFiles(_temporary.Folder.Quarantine, "old.tmp", SearchOption.AllDirectories));
    }

    [Fact]
    public async Task Damaged_database_enters_safe_mode_and_serves_only_health()
    {
        await File.WriteAllTextAsync(_temporary.Folder.Database, new string('x', 8192), Token);
        await using var server = await RunningServer.StartAsync(_temporary);

        Assert.Equal("""{"status":"ok","mode":"safe"}""", await server.Client.GetStringAsync("healthz", Token));
        using var ready = await server.Client.GetAsync("readyz", Token);
        Assert.Equal(HttpStatusCode.ServiceUnavailable, ready.StatusCode);
        Assert.Equal("""{"status":"unavailable","reason":"database"}""", await ready.Content.ReadAsStringAsync(Token));
        server.Client.DefaultRequestHeaders.Authorization = RunningServer.Basic("admin", RunningServer.Password);
        using var tree = await server.Client.GetAsync("content/", Token);
        Assert.Equal(HttpStatusCode.ServiceUnavailable, tree.StatusCode);
        Assert.Equal("30", tree.Headers.GetValues("Retry-After").Single());
        Assert.Equal(8192, new FileInfo(_temporary.Folder.Database).Length);
    }

    [Fact]
    public async Task Damage_after_page_one_enters_safe_mode_without_writes()
    {
        var variables = new Dictionary<string, string> { ["SLUICE_CONFIG__WEBDAV__PASS"] = "", ["SLUICE_CONFIG__API__KEY"] = "" };
        await (await RunningServer.StartAsync(_temporary, variables)).DisposeAsync();
        var damaged = await File.ReadAllBytesAsync(_temporary.Folder.Database, Token);
        damaged.AsSpan(4096).Fill((byte)'x');
        await File.WriteAllBytesAsync(_temporary.Folder.Database, damaged, Token);

        await using (var server = await RunningServer.StartAsync(_temporary, variables))
        {
            Assert.Equal("""{"status":"ok","mode":"safe"}""", await server.Client.GetStringAsync("healthz", Token));
            using var tree = await server.Client.GetAsync("content/", Token);
            Assert.Equal(HttpStatusCode.ServiceUnavailable, tree.StatusCode);
            Assert.False(server.Services.GetRequiredService<SluiceDatabase>().IsOpen);
        }

        Assert.Equal(damaged, await File.ReadAllBytesAsync(_temporary.Folder.Database, Token));
    }

    [Fact]
    public async Task Damaged_database_without_a_password_gets_503()
    {
        await File.WriteAllTextAsync(_temporary.Folder.Database, new string('x', 8192), Token);
        await using var server = await RunningServer.StartAsync(_temporary, new() { ["SLUICE_CONFIG__WEBDAV__PASS"] = "" });

        using var tree = await server.Client.GetAsync("content/", Token);

        Assert.Equal(HttpStatusCode.ServiceUnavailable, tree.StatusCode);
    }
}
