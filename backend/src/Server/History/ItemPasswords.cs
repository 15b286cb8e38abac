using Sluice.Server.Database;
using Sluice.Server.Settings;

namespace Sluice.Server.History;

/// <summary>
/// Seals the archive passwords of items for their rows, and opens them. One that comes while the key file is lost stays in plain text
/// until the file is back, so that nothing is refused for it; so do rows of earlier versions until they are sealed.
/// </summary>
/// <remarks>Thread-safe.</remarks>
internal sealed class ItemPasswords(SecretBox box)
{
    /// <summary>Whether passwords can be sealed.</summary>
    public bool CanSeal => !box.IsLocked;

    /// <summary>Returns a password as a row has it.</summary>
    /// <param name="id">The item.</param>
    /// <param name="password">In plain text; empty for none.</param>
    /// <exception cref="StorageException">The key file cannot be read or made.</exception>
    public string Seal(string id, string password) =>
        password.Length == 0 || !CanSeal ? password : box.Seal(NameOf(id), password);

    /// <summary>Returns the password of an item in plain text; empty for none, and for one that cannot be opened.</summary>
    public string Open(ImportItem item) => Open(item.Id, item.Password) ?? "";

    /// <summary>Returns the password of an item in plain text; empty for none, and for one whose key was given up.</summary>
    /// <exception cref="StorageException">The key file is lost, and may come back.</exception>
    public string Require(string id, string kept)
    {
        if (Open(id, kept) is { } password)
            return password;
        box.RequireKey();
        return "";
    }

    private string? Open(string id, string kept) => SecretBox.IsSealed(kept) ? box.Open(NameOf(id), kept) : kept;

    private static string NameOf(string id) => "password/" + id;
}
