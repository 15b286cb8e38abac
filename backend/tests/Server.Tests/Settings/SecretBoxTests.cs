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
    public void Sealed_value_opens_under_its_own_name_only(string secret)
    {
        var box = new SecretBox(_temporary.Folder);

        var text = box.Seal("api.key", secret);

        Assert.StartsWith("enc:v1:", text, StringComparison.Ordinal);
        Assert.Equal(secret, new SecretBox(_temporary.Folder).Open("api.key", text));
        Assert.Null(box.Open("webdav.pass", text));
    }

    [Fact]
    public void Changed_text_does_not_open()
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
    public void Text_of_another_make_does_not_open(string text) => Assert.Null(new SecretBox(_temporary.Folder).Open("api.key", text));

    [Fact]
    public void Two_seals_of_one_value_differ()
    {
        var box = new SecretBox(_temporary.Folder);

        Assert.NotEqual(box.Seal("api.key", "secret"), box.Seal("api.key", "secret"));
    }

    [Fact]
    public void Key_file_is_32_bytes_for_the_owner_alone()
    {
        new SecretBox(_temporary.Folder).Seal("api.key", "secret");

        Assert.Equal(32, new FileInfo(KeyFile).Length);
        if (!OperatingSystem.IsWindows())
            Assert.Equal(UnixFileMode.UserRead | UnixFileMode.UserWrite, File.GetUnixFileMode(KeyFile));
    }

    [Fact]
    public void Lost_key_opens_nothing_and_a_new_one_works()
    {
        var text = new SecretBox(_temporary.Folder).Seal("api.key", "secret");
        File.Delete(KeyFile);
        var box = new SecretBox(_temporary.Folder);

        Assert.Null(box.Open("api.key", text));
        Assert.Equal("new", box.Open("api.key", box.Seal("api.key", "new")));
    }

    [Fact]
    public void Damaged_key_is_kept_aside_and_replaced()
    {
        File.WriteAllText(KeyFile, "short");

        var box = new SecretBox(_temporary.Folder);

        Assert.Equal("x", box.Open("api.key", box.Seal("api.key", "x")));
        Assert.Equal("short", File.ReadAllText(KeyFile + ".damaged"));
    }
}
