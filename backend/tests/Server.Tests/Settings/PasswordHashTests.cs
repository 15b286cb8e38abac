using Sluice.Server.Settings;
using Xunit;

namespace Sluice.Server.Tests.Settings;

public sealed class PasswordHashTests
{
    [Fact]
    public void Stored_form_verifies_the_password_and_no_other()
    {
        var stored = PasswordHash.Create("correct horse").ToString();

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
    public void What_is_no_stored_form_is_not_taken_for_one(string text) => Assert.Null(PasswordHash.Parse(text));
}
