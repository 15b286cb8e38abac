using Sluice.Server.Settings;
using Sluice.Server.Tests.Database;
using Sluice.Server.Tests.Queue;
using Sluice.Tools.MockNntpServer;
using Sluice.Tools.MockNntpServer.Articles;
using Sluice.Tools.MockNntpServer.Layouts;
using Xunit;

namespace Sluice.Server.Tests.ArchiveImport;

/// <summary>Sources of archive passwords: IMP-57.</summary>
public sealed class PasswordTests(ImportBench bench) : IClassFixture<ImportBench>
{
    private const string Password = "correct horse";

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    [Theory]
    [InlineData("api", "Pass.Api", "&password=correct%20horse", null)]
    [InlineData("meta", "Pass.Meta", "", Password)]
    [InlineData("braces", "Pass.Braces{{correct horse}}", "", null)]
    [InlineData("word", "Pass.Word password=correct horse", "", null)]
    [InlineData("both", "Pass.Both", "&password=wrong", Password)]
    public async Task Password_from_each_source_opens_the_archive(string source, string name, string query, string? meta)
    {
        var release = Release((ulong)(100 + source.Length + source[0]), meta);

        var ending = await bench.ImportAsync(release, query, name);

        Assert.Equal("", ending.Sentence);
        Assert.Equal($"Pass.{char.ToUpperInvariant(source[0])}{source[1..]}", ending.Name);
        await bench.AssertHoldsAsync(ending.Name, release.Entries);
    }

    [Fact]
    public async Task Password_after_a_slash_in_the_name_opens_the_archive()
    {
        var release = Release(120, null);

        var ending = await bench.ImportAsync(release, "&nzbname=Pass.Slash%2Fcorrect%20horse");

        Assert.Equal("", ending.Sentence);
        await bench.AssertHoldsAsync("Pass.Slash", release.Entries);
    }

    [Fact]
    public async Task Wrong_password_and_missing_password_fail_differently()
    {
        var wrong = await bench.ImportAsync(Release(121, null), "&password=wrong", "Pass.Wrong");
        var none = await bench.ImportAsync(Release(122, null), "", "Pass.None");

        Assert.Equal(("WrongPassword", "The archive password is wrong."), (wrong.Reason, wrong.Sentence));
        Assert.Equal(("EncryptedNoPassword", "The archive is encrypted and no password was given."), (none.Reason, none.Sentence));
    }

    [Fact]
    public async Task Retry_with_a_password_imports_a_failed_item()
    {
        var release = Release(123, null);
        var ending = await bench.ImportAsync(release, "", "Pass.Retry");
        Assert.Equal("EncryptedNoPassword", ending.Reason);

        await bench.Host.CallAsync($"mode=retry&value={ending.Id}&password=correct%20horse", Token);
        while ((await bench.Host.WaitForHistoryAsync(ending.Id, Token)).GetProperty("status").GetString() != "Completed")
            await Task.Delay(TimeSpan.FromMilliseconds(20), TimeProvider.System, Token);

        await bench.AssertHoldsAsync("Pass.Retry", release.Entries);
    }

    [Fact]
    public async Task Archive_password_from_the_settings_opens_the_archive()
    {
        using var folder = new TemporaryFolder();
        await using var mock = await MockServer.StartAsync();
        await using var host = await ProductHost.StartAsync(
            folder, mock, null, ("SLUICE_CONFIG__API__ARCHIVE_PASSWORDS", """["first, with a comma","correct horse"]"""));
        var release = Release(124, null);
        mock.Post(release);

        var slot = await host.WaitForHistoryAsync((await host.AddAsync(release.ToNzb(), "Rel.nzb", Token))[0], Token);

        Assert.Equal("", slot.GetProperty("fail_message").GetString());
        Assert.Equal("", slot.GetProperty("password").GetString());
        Assert.Equal(["first, with a comma", "correct horse"], ImportOptions.Read(host.Get<SettingsSource>().Current).ArchivePasswords);
    }

    private static MockRelease Release(ulong seed, string? meta) => new ReleaseBuilder($"pass-{seed}", seed, 20_000)
        .Password(meta)
        .AddArchive(new ArchiveLayout { Format = LayoutFormat.Rar5, Entries = [new LayoutEntry("film.mkv", 300_000)], Volumes = 4, Password = Password, EncryptsHeaders = true })
        .Build();
}
