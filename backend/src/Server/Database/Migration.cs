using System.Globalization;
using System.Reflection;

namespace Sluice.Server.Database;

/// <summary>One step of the schema: plain SQL that leads to a version.</summary>
/// <param name="Version">The <c>user_version</c> after it; the steps count from 1 without a gap.</param>
/// <param name="Name">File name, for messages.</param>
/// <param name="Sql">Any number of statements, without BEGIN and COMMIT.</param>
internal sealed record Migration(int Version, string Name, string Sql)
{
    private const string Folder = "Sluice.Server.Database.Migrations.";

    /// <summary>The steps that are part of this program, in order.</summary>
    public static IReadOnlyList<Migration> LoadEmbedded()
    {
        var assembly = typeof(Migration).Assembly;
        return
        [
            .. assembly.GetManifestResourceNames()
                .Where(name => name.StartsWith(Folder, StringComparison.Ordinal))
                .Select(name => Load(assembly, name))
                .OrderBy(migration => migration.Version),
        ];
    }

    private static Migration Load(Assembly assembly, string resource)
    {
        using var reader = new StreamReader(assembly.GetManifestResourceStream(resource)!);
        var name = resource[Folder.Length..];
        return new Migration(int.Parse(name.AsSpan(0, 4), CultureInfo.InvariantCulture), name, reader.ReadToEnd());
    }
}
