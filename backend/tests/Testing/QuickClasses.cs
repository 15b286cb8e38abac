using System.Reflection;
using System.Reflection.Emit;

namespace Sluice.Testing;

/// <summary>
/// Finds the test classes that open neither a database nor a socket; <c>tools/test.sh --quick</c> runs them. The compiled code decides, so a new
/// test needs no mark: a class opens something if its code, or test code that it calls, refers to one of <see cref="Openers"/>.
/// </summary>
public static class QuickClasses
{
    private static readonly string[] Openers =
    [
        "Microsoft.AspNetCore.Builder.WebApplication", "Microsoft.AspNetCore.Hosting.", "Microsoft.Data.Sqlite.", "Microsoft.Extensions.Hosting.",
        "Sluice.Server.Database.MigrationRunner", "Sluice.Server.Database.SluiceDatabase", "Sluice.Server.Program", "Sluice.Tools.FullNzbTester.Cli.CommandLine",
        "Sluice.Tools.MockNntpServer.MockServer", "System.Diagnostics.Process", "System.Net.Http.HttpClient", "System.Net.Security.SslStream", "System.Net.Sockets.",
    ];

    private static readonly Dictionary<short, OpCode> Codes =
        typeof(OpCodes).GetFields(BindingFlags.Public | BindingFlags.Static).Select(field => (OpCode)field.GetValue(null)!).ToDictionary(code => code.Value);

    private const BindingFlags Declared =
        BindingFlags.Public | BindingFlags.NonPublic | BindingFlags.Instance | BindingFlags.Static | BindingFlags.DeclaredOnly;

    /// <summary>Returns the full names of the classes, sorted.</summary>
    /// <param name="assembly">The test assembly.</param>
    public static IReadOnlyList<string> In(Assembly assembly)
    {
        var uses = new Dictionary<Type, HashSet<Type>>();
        return
        [
            .. assembly.GetTypes().Where(type => !type.IsAbstract && type.GetMethods().Any(IsTest) && !Opens(type, assembly, uses))
                .Select(type => type.FullName!).Order(StringComparer.Ordinal),
        ];
    }

    /// <summary>Writes the names, one a line, to the file in <c>SLUICE_QUICK_CLASSES</c>.</summary>
    public static void Write(Assembly assembly) =>
        File.WriteAllLines(Environment.GetEnvironmentVariable("SLUICE_QUICK_CLASSES") ?? throw new InvalidOperationException("SLUICE_QUICK_CLASSES is not set"), In(assembly));

    private static bool IsTest(MethodInfo method) =>
        method.GetCustomAttributesData().Any(attribute => attribute.AttributeType.Name is "FactAttribute" or "TheoryAttribute");

    private static bool Opens(Type test, Assembly assembly, Dictionary<Type, HashSet<Type>> uses)
    {
        var (seen, left) = (new HashSet<Type> { test }, new Queue<Type>([test]));
        while (left.TryDequeue(out var type))
        {
            if (IsOpener(type))
                return true;
            // Product code is not followed: it opens something only if a test calls one of the openers.
            if (type.Assembly != assembly && type.Assembly != typeof(QuickClasses).Assembly)
                continue;
            if (!uses.TryGetValue(type, out var used))
                uses[type] = used = UsedBy(type);
            foreach (var next in used.Where(seen.Add))
                left.Enqueue(next);
        }

        return false;
    }

    private static bool IsOpener(Type type) =>
        type.FullName is { } name && Array.Exists(Openers, opener => opener.EndsWith('.') ? name.StartsWith(opener, StringComparison.Ordinal) : name == opener);

    private static HashSet<Type> UsedBy(Type type)
    {
        var found = new HashSet<Type>();
        foreach (var part in type.GetInterfaces().Append(type.BaseType).Concat(type.GetNestedTypes(Declared)).Concat(type.GetFields(Declared).Select(field => field.FieldType)))
            Add(found, part);
        foreach (var method in type.GetMembers(Declared).OfType<MethodBase>())
            AddCalls(found, method);
        return found;
    }

    private static void AddCalls(HashSet<Type> found, MethodBase method)
    {
        AddSignature(found, method);
        if (method.GetMethodBody() is not { } body)
            return;
        foreach (var local in body.LocalVariables)
            Add(found, local.LocalType);
        var code = body.GetILAsByteArray()!;
        var typeArguments = method.DeclaringType!.IsGenericType ? method.DeclaringType.GetGenericArguments() : null;
        var methodArguments = method.IsGenericMethod ? method.GetGenericArguments() : null;
        for (var at = 0; at < code.Length;)
        {
            var operation = code[at] == 0xfe ? Codes[(short)(0xfe00 | code[at + 1])] : Codes[code[at]];
            at += operation.Size;
            if (operation.OperandType is OperandType.InlineMethod or OperandType.InlineField or OperandType.InlineType or OperandType.InlineTok)
                AddMember(found, method.Module.ResolveMember(BitConverter.ToInt32(code, at), typeArguments, methodArguments));
            at += LengthOf(operation.OperandType, code, at);
        }
    }

    private static void AddMember(HashSet<Type> found, MemberInfo? member)
    {
        Add(found, member as Type ?? member?.DeclaringType);
        if (member is MethodBase method)
            AddSignature(found, method);
        else if (member is FieldInfo field)
            Add(found, field.FieldType);
    }

    private static void AddSignature(HashSet<Type> found, MethodBase method)
    {
        Add(found, (method as MethodInfo)?.ReturnType);
        foreach (var parameter in method.GetParameters())
            Add(found, parameter.ParameterType);
        if (method.IsGenericMethod)
            Array.ForEach(method.GetGenericArguments(), argument => Add(found, argument));
    }

    private static void Add(HashSet<Type> found, Type? type)
    {
        if (type is null || type.IsGenericParameter)
            return;
        if (type.HasElementType)
            Add(found, type.GetElementType());
        if (type.IsConstructedGenericType)
            Array.ForEach(type.GetGenericArguments(), argument => Add(found, argument));
        found.Add(type.IsConstructedGenericType ? type.GetGenericTypeDefinition() : type);
    }

    private static int LengthOf(OperandType operand, byte[] code, int at) => operand switch
    {
        OperandType.InlineNone => 0,
        OperandType.ShortInlineBrTarget or OperandType.ShortInlineI or OperandType.ShortInlineVar => 1,
        OperandType.InlineVar => 2,
        OperandType.InlineI8 or OperandType.InlineR => 8,
        OperandType.InlineSwitch => 4 + (4 * BitConverter.ToInt32(code, at)),
        _ => 4,
    };
}
