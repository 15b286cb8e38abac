using Sluice.Server.FamilyImport;
using Sluice.Server.Providers;
using Xunit;

namespace Sluice.Server.Tests.FamilyImport;

/// <summary>Saved settings of the family, converted by the table of aliases (CFG-41).</summary>
public sealed class FamilySettingsTests
{
    private readonly ImportTally _tally = new();

    [Fact]
    public void Exact_key_wins_and_its_aliases_are_not_reported_as_unknown()
    {
        var old = Convert(("usenet.read-ahead-mb", "64"), ("usenet.article-buffer-size", "40"), ("usenet.stream-buffer-size", "10"));

        Assert.Equal("64", old.Values["usenet.read-ahead-mb"]);
        Assert.Empty(old.Kept);
        Assert.Empty(_tally.Report().Left);
    }

    [Fact]
    public void Value_in_another_unit_is_converted_and_noted()
    {
        var old = Convert(("api.history-retention-hours", "48"), ("api.download-extension-blacklist", ".nfo,.txt"), ("rclone.rc", """{"Url":"http://rclone:5572","Username":"u","Password":"hidden","Enabled":true}"""));

        Assert.Equal("2", old.Values["database.history-retention-days"]);
        Assert.Equal("""["*.nfo","*.txt"]""", old.Values["api.download-file-blocklist"]);
        Assert.Equal(("http://rclone:5572", "u", "hidden", "true"), (old.Values["rclone.host"], old.Values["rclone.user"], old.Values["rclone.pass"], old.Values["rclone.rc-enabled"]));
        var notes = _tally.Report().Notes;
        Assert.Contains("api.history-retention-hours: 48 is database.history-retention-days: 2 here", notes);
        Assert.Contains("rclone.rc is rclone.pass here", notes);
    }

    [Fact]
    public void Out_of_range_number_is_clamped_and_invalid_one_is_dropped()
    {
        var old = Convert(("usenet.streaming-priority", "250"), ("queue.worker-count", "some"), ("api.key", "short"), ("usenet.max-download-connections", ""));

        Assert.Equal("100", old.Values["usenet.streaming-priority"]);
        Assert.DoesNotContain("queue.worker-count", old.Values.Keys);
        Assert.DoesNotContain("usenet.max-download-connections", old.Values.Keys);
        var report = _tally.Report();
        Assert.Equal(["api.key", "queue.worker-count"], report.Left.Select(left => left.Name).Order());
        Assert.Equal((4, 2, 2), report.Counts.Where(count => count.Kind == ImportKind.Settings).Select(count => (count.Found, count.Taken, count.Left)).Single());
    }

    [Fact]
    public void Destructive_and_gap_fill_settings_are_not_enabled()
    {
        var old = Convert(("repair.enable", "true"), ("repair.dry-run", "false"), ("usenet.gap-fill", "zeros"), ("usenet.container-aware-fill", "true"), ("repair.auto-remove-after-failures", "3"), ("maintenance.remove-orphaned-schedule-enabled", "true"));

        Assert.Equal(["database.history-retention-days", "rclone.mount-dir"], old.Values.Keys.Order());
        Assert.Equal("0", old.Values["database.history-retention-days"]);
        Assert.Equal(["repair.enable", "usenet.container-aware-fill"], old.Kept.Keys.Order());
        Assert.Equal(4, _tally.Report().LeftTotal);
    }

    [Theory]
    [InlineData(null, false, "/mnt/nzbdav")]
    [InlineData("/media/usenet", false, "/media/usenet")]
    [InlineData(null, true, null)]
    public void Default_mount_folder_of_the_old_server_is_kept(string? saved, bool hasMount, string? expected)
    {
        FamilySetting[] rows = saved is null ? [] : [new FamilySetting("rclone.mount-dir", saved)];

        Assert.Equal(expected, FamilySettings.Of(rows, [], _tally, hasMount).Values.GetValueOrDefault("rclone.mount-dir"));
    }

    [Fact]
    public void Single_provider_keys_become_a_provider_list_entry()
    {
        var old = Convert(("usenet.host", " news.example.com "), ("usenet.port", "563"), ("usenet.use-ssl", "true"), ("usenet.user", "u"), ("usenet.pass", "p\"w"), ("usenet.connections", "30"));

        var provider = Assert.Single(ProviderJson.Read(old.Values["usenet.providers"]!, out var warnings));
        Assert.Empty(warnings);
        Assert.Equal(("news.example.com", 563, true, "u", "p\"w", 30), (provider.Host, provider.Port, provider.UseTls, provider.User, provider.Password, provider.MaxConnections));
        Assert.Empty(old.Kept);
    }

    [Fact]
    public void Invalid_provider_is_dropped_and_the_others_kept()
    {
        var old = Convert(("usenet.providers", """{"Providers":[{"Host":"a b","Port":1},{"Host":"news.example.com","Port":563,"UseSsl":true,"User":"u","Pass":"p","MaxConnections":10,"Type":1}]}"""));

        Assert.Equal("news.example.com", Assert.Single(ProviderJson.Read(old.Values["usenet.providers"]!, out _)).Host);
        Assert.Contains(_tally.Report().Notes, note => note.StartsWith("usenet.providers: element 0 is left out", StringComparison.Ordinal));
    }

    private FamilySettings Convert(params (string Key, string Value)[] rows) => FamilySettings.Of([.. rows.Select(row => new FamilySetting(row.Key, row.Value))], [], _tally);
}
