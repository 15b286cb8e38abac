using Sluice.Server.Database;
using Sluice.Server.Settings;
using Sluice.Server.Tests.Database;
using Xunit;

namespace Sluice.Server.Tests.Settings;

public sealed class SecretBoxTests : IDisposable
{
    private readonly TemporaryFolder _temporary = new();

    public void Dispose() => _temporary.Dispose();

    private string KeyFile => Path.Combine(_temporary.Folder.Keys, "secret.key");

    [Theory]
    [InlineData("")]
    [InlineData("a secret with ünïcode")]
    public void Sealed_value_opens_only_under_its_own_name(string secret)
    {
        var box = new SecretBox(_temporary.Folder);

        var text = box.Seal("api.key", secret);

        Assert.StartsWith("enc:v1:", text, StringComparison.Ordinal);
        Assert.Equal(secret, new SecretBox(_temporary.Folder).Open("api.key", text));
        Assert.Null(box.Open("webdav.pass", text));
    }

    [Fact]
    public void Modified_sealed_text_does_not_open()
    {
        var box = new SecretBox(_temporary.Folder);
        var sealedBytes = Convert.FromBase64String(box.Seal("api.key", "secret")["enc:v1:".Length..]);

        for (var i = 0; i < sealedBytes.Length; i++)
        {
            var changed = (byte[])sealedBytes.Clone();
            changed[i] ^= 1;
            Assert.Null(box.Open("api.key", "enc:v1:" + Convert.ToBase64String(changed)));
        }
    }

    [Theory]
    [InlineData("enc:v1:")]
    [InlineData("enc:v1:AAAA")]
    [InlineData("enc:v1:%%%%")]
    [InlineData("enc:v2:AAAA")]
    public void Malformed_or_other_version_sealed_text_does_not_open(string text) => Assert.Null(new SecretBox(_temporary.Folder).Open("api.key", text));

    [Fact]
    public void Sealing_a_value_twice_gives_different_texts()
    {
        var box = new SecretBox(_temporary.Folder);

        Assert.NotEqual(box.Seal("api.key", "secret"), box.Seal("api.key", "secret"));
    }

    [Fact]
    public void Key_file_is_32_bytes_and_owner_only()
    {
        new SecretBox(_temporary.Folder).Seal("api.key", "secret");

        Assert.Equal(32, new FileInfo(KeyFile).Length);
        if (!OperatingSystem.IsWindows())
            Assert.Equal(UnixFileMode.UserRead | UnixFileMode.UserWrite, File.GetUnixFileMode(KeyFile));
    }

    [Fact]
    public void Missing_key_is_not_replaced_automatically()
    {
        var first = new SecretBox(_temporary.Folder);
        var text = first.Seal("api.key", "secret");
        File.Delete(KeyFile);
        var box = new SecretBox(_temporary.Folder);
        box.Prepare(first.Fingerprint, new Dictionary<string, string>());

        Assert.Null(box.Open("api.key", text));
        Assert.Equal(StorageFault.Failing, Assert.Throws<StorageException>(() => box.Seal("api.key", "new")).Fault);
        Assert.False(File.Exists(KeyFile));
        Assert.Equal((KeyState.Missing, null), (box.State, box.Fingerprint));
    }

    [Fact]
    public void Value_entered_without_the_key_opens_before_and_after()
    {
        var first = new SecretBox(_temporary.Folder);
        var text = first.Seal("api.key", "secret");
        var key = File.ReadAllBytes(KeyFile);
        File.Delete(KeyFile);
        var box = new SecretBox(_temporary.Folder);
        box.Prepare(first.Fingerprint, new Dictionary<string, string>());
        var entered = box.SealEntered("api.key", "new");
        Assert.Equal("new", box.Open("api.key", entered));
        File.WriteAllBytes(KeyFile, key);

        var again = new SecretBox(_temporary.Folder);
        again.Prepare(first.Fingerprint, new Dictionary<string, string>());
        Assert.Equal(("secret", "new"), (again.Open("api.key", text), again.Open("api.key", entered)));
        Assert.Equal(KeyState.Usable, again.State);
    }

    [Fact]
    public void Damaged_key_without_secrets_is_renamed_and_replaced()
    {
        File.WriteAllText(KeyFile, "short");

        var box = new SecretBox(_temporary.Folder);

        Assert.Equal("x", box.Open("api.key", box.Seal("api.key", "x")));
        Assert.Equal("short", File.ReadAllText(KeyFile + ".former-1"));
    }

    [Theory]
    [InlineData(0)]
    [InlineData(31)]
    [InlineData(33)]
    [InlineData(1 << 20)]
    public void Key_file_of_wrong_length_is_damaged_and_kept(int length)
    {
        var first = new SecretBox(_temporary.Folder);
        first.Seal("api.key", "secret");
        File.WriteAllBytes(KeyFile, new byte[length]);

        var box = new SecretBox(_temporary.Folder);
        box.Prepare(first.Fingerprint, new Dictionary<string, string>());

        Assert.Equal((KeyState.Damaged, "keys/secret.key is damaged"), (box.State, box.Cause));
        Assert.Equal(length, new FileInfo(KeyFile).Length);
    }
}
