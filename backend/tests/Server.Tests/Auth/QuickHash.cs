using System.Security.Cryptography;
using System.Text;

namespace Sluice.Server.Tests.Auth;

/// <summary>A password hash with a single round, for tests that are not about the hash.</summary>
internal static class QuickHash
{
    public static string Of(string password)
    {
        var salt = RandomNumberGenerator.GetBytes(16);
        var hash = Rfc2898DeriveBytes.Pbkdf2(Encoding.UTF8.GetBytes(password), salt, 1, HashAlgorithmName.SHA256, 32);
        return $"pbkdf2-sha256$1${Convert.ToBase64String(salt)}${Convert.ToBase64String(hash)}";
    }
}
