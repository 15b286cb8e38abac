using Sluice.Server.Database;
using Sluice.Testing;
using Xunit;

namespace Sluice.Server.Tests.Database;

public sealed class BlobQuarantineTests : IDisposable
{
    private readonly TemporaryFolder _temporary = new();
    private readonly ManualTimeProvider _time = new();
    private BlobQuarantine _quarantine;

    public BlobQuarantineTests() => _quarantine = new BlobQuarantine(_temporary.Folder, _time);

    private string Blob => Path.Combine(_temporary.Folder.Blobs, "blob");

    private bool IsKept => Directory.GetFiles(_temporary.Folder.Quarantine, "blob", SearchOption.AllDirectories).Length == 1;

    public void Dispose() => _temporary.Dispose();

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void Quarantined_file_is_deleted_after_seven_whole_days(bool restartsEachHour)
    {
        _quarantine.AdvanceDay();
        Take();
        // The call that records the first day may come at any time of the day.
        _quarantine.AdvanceDay();

        for (var hour = 1; hour <= 8 * 24; hour++)
        {
            Assert.True(IsKept, $"It was gone after {hour - 1} hours.");
            _time.Advance(TimeSpan.FromHours(1));
            if (restartsEachHour)
                _quarantine = new BlobQuarantine(_temporary.Folder, _time);
            _quarantine.AdvanceDay();
        }

        Assert.False(IsKept);
    }

    [Fact]
    public void OPS_4_Blob_used_by_a_backup_is_kept_in_quarantine()
    {
        var hash = new string('a', 64);
        var blob = Path.Combine(_temporary.Folder.Blobs, hash + ".nzb.br");
        HashSet<UInt128> keys = [BlobStore.KeyOf(hash)];
        _quarantine = new BlobQuarantine(_temporary.Folder, _time, () => keys);
        File.WriteAllText(blob, "x");
        _quarantine.Take(blob);
        Take();
        PassDays(30);
        Assert.False(IsKept);
        Assert.Equal(hash + ".nzb.br", Path.GetFileName(Assert.Single(_quarantine.List())));

        // The backup is deleted, and a new one is made before the blob is deleted.
        keys = [];
        PassDays(1);
        keys = [BlobStore.KeyOf(hash)];
        PassDays(30);
        Assert.True(_quarantine.TryRestore(blob));
        _quarantine.Take(blob);

        keys = [];
        PassDays(9);
        Assert.Empty(_quarantine.List());
    }

    [Fact]
    public void OPS_4_Unreadable_backup_deletes_nothing()
    {
        _quarantine = new BlobQuarantine(_temporary.Folder, _time, () => throw new IOException("unreadable"));
        Take();
        for (var day = 0; day < 30; day++)
        {
            _time.Advance(TimeSpan.FromDays(1));
            try
            {
                _quarantine.AdvanceDay();
            }
            catch (IOException)
            {
                // The caller logs the failure and retries.
            }
        }

        Assert.True(IsKept);
    }

    [Fact]
    public void Clock_jump_of_years_ages_the_quarantine_by_one_day()
    {
        Take();
        _quarantine.AdvanceDay();

        _time.Advance(TimeSpan.FromDays(730));
        for (var i = 0; i < 20; i++)
            _quarantine.AdvanceDay();

        Assert.True(IsKept);
        Assert.True(_quarantine.TryRestore(Blob));
        Assert.True(File.Exists(Blob));
    }

    [Fact]
    public void Clock_set_back_keeps_quarantined_files()
    {
        Take();
        _quarantine.AdvanceDay();
        File.SetLastWriteTimeUtc(Path.Combine(_temporary.Folder.Quarantine, "day"), _time.GetUtcNow().UtcDateTime.AddYears(2));

        for (var i = 0; i < 20; i++)
            _quarantine.AdvanceDay();

        Assert.True(File.Exists(Path.Combine(_temporary.Folder.Quarantine, "8", "blob")));
    }

    [Fact]
    public void Restore_does_not_overwrite_an_existing_file()
    {
        Take();
        Take();
        Assert.True(IsKept);
        File.WriteAllText(Blob, "new");

        Assert.Throws<IOException>(() => _quarantine.TryRestore(Blob));

        Assert.Equal("new", File.ReadAllText(Blob));
    }

    private void PassDays(int days)
    {
        for (var day = 0; day < days; day++)
        {
            _quarantine.AdvanceDay();
            _time.Advance(TimeSpan.FromDays(1));
        }
    }

    private void Take()
    {
        File.WriteAllText(Blob, "old");
        _quarantine.Take(Blob);
        Assert.False(File.Exists(Blob));
    }
}
