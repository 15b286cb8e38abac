using System.Reflection;
using System.Reflection.Metadata;
using System.Reflection.PortableExecutable;

namespace Sluice.Server.Tests.Layers;

/// <summary>Finds calls in a built assembly of the part of Dapper that inspects rows and parameters at runtime.</summary>
internal static class ReflectedCalls
{
    /// <summary>Returns the names of the called methods. Calls that Dapper's generator has replaced do not appear.</summary>
    public static IReadOnlyList<string> In(Assembly assembly)
    {
        using var image = new PEReader(File.OpenRead(assembly.Location));
        var metadata = image.GetMetadataReader();
        return
        [
            .. from handle in metadata.MemberReferences
               let member = metadata.GetMemberReference(handle)
               where member.Parent.Kind == HandleKind.TypeReference
               let type = metadata.GetTypeReference((TypeReferenceHandle)member.Parent)
               where metadata.StringComparer.Equals(type.Namespace, "Dapper") && metadata.StringComparer.Equals(type.Name, "SqlMapper")
               select metadata.GetString(member.Name),
        ];
    }
}
