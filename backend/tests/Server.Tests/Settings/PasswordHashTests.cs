using Sluice.Server.Settings;
using Sluice.Server.Tests.FamilyImport;
using Xunit;

namespace Sluice.Server.Tests.Settings;

public sealed class PasswordHashTests
{
    [Fact]
    public void Stored_hash_verifies_only_its_password()
    {
        var stored = PasswordHash.Create(ChosenPassword.Judge("correct horse")!).ToString();

        var parts = stored.Split('$');
        Assert.Equal(["pbkdf2-sha256", "600000"], parts[..2]);
        Assert.Equal(16, Convert.FromBase64String(parts[2]).Length);
        var hash = PasswordHash.Parse(stored)!;
        Assert.True(hash.Verify("correct horse"));
        Assert.False(hash.Verify("correct horse "));
    }

    [Theory]
    [InlineData("")]
    [InlineData("pbkdf2-sha256$")]
    [InlineData("pbkdf2-sha256$600000$AAAA$AAAA")]
    [InlineData("pbkdf2-sha256$-1$AAAAAAAAAAAAAAAAAAAAAA==$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=")]
    [InlineData("pbkdf2-sha256$999999999$AAAAAAAAAAAAAAAAAAAAAA==$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=")]
    [InlineData("a password")]
    public void Malformed_stored_hash_is_refused(string text) => Assert.Null(PasswordHash.Parse(text));

    // Hashes of "correct horse" with the salt "salt", as ASP.NET Identity stores them.
    [Theory]
    [InlineData(2)]
    [InlineData(3)]
    public void Identity_hash_verifies_after_a_round_trip(int version)
    {
        var text = version == 2 ? IdentityVersion2("correct horsesalt") : OldServer.Identity("correct horsesalt");

        var stored = PasswordHash.OfIdentity(text, "salt")!.ToString();
        var hash = PasswordHash.Parse(stored)!;

        Assert.True(PasswordHash.IsHash(stored));
        Assert.True(hash.IsImported);
        Assert.True(hash.Verify("correct horse"));
        Assert.False(hash.Verify("correct horses"));
        Assert.False(hash.Verify("correct horsesalt"));
        Assert.False(hash.Renew("correct horse")!.IsImported);
    }

    [Theory]
    [InlineData("")]
    [InlineData("x")]
    [InlineData("        ")]
    [InlineData("Password1")]
    [InlineData(" changeme ")]
    [InlineData("line\nfeed in it")]
    public void Weak_password_is_refused(string text)
    {
        Assert.Null(ChosenPassword.Judge(text));
        Assert.Null(PasswordHash.Of(text));
    }

    [Fact]
    public void Stored_hash_is_refused_as_a_password()
    {
        var stored = PasswordHash.Of("correct horse")!.ToString();

        Assert.Null(ChosenPassword.Judge(stored));
        Assert.Equal(stored, PasswordHash.Of(stored)!.ToString());
    }

    [Fact]
    public void Weak_imported_password_can_be_rehashed_once_verified()
    {
        var imported = PasswordHash.OfIdentity(OldServer.Identity("admin"), "")!;

        var renewed = imported.Renew("admin")!;

        Assert.True(renewed.Verify("admin"));
        Assert.StartsWith("pbkdf2-sha256$600000$", renewed.ToString(), StringComparison.Ordinal);
        Assert.Null(imported.Renew("admin1"));
    }

    [Theory]
    [InlineData("")]
    [InlineData("AA==")]
    [InlineData("AQAAAAL/////AAAAEAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=")]
    [InlineData("no base64!")]
    public void Malformed_Identity_hash_is_refused(string text) => Assert.Null(PasswordHash.OfIdentity(text, ""));

    private static string IdentityVersion2(string password)
    {
        var salt = System.Security.Cryptography.RandomNumberGenerator.GetBytes(16);
        return Convert.ToBase64String(
        [
            0,
            .. salt,
            .. System.Security.Cryptography.Rfc2898DeriveBytes.Pbkdf2(password, salt, 1000, System.Security.Cryptography.HashAlgorithmName.SHA1, 32),
        ]);
    }
}
